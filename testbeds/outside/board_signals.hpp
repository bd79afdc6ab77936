// SPDX-License-Identifier: Apache-2.0
// The signals that hosts put onto a board (guests/guest_folder.hpp), for who carries them to another board: over ranks
// each rank has a board of its own, and what is new on one is put onto the others. A signal is a file of the board; its
// name is the signal's, and a file that is put there anew is a new one.
//
// All boards get all signals in one order, their own ones as well, and end with the last one of each name. What a host
// has put onto this board stands until its own turn in that order: whatever comes before is older.
//
// Not carried: files that were there before (addresses, lists of hosts), sockets, folders, and what is larger than
// kMostBytes. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

struct BoardSignal {
  std::string name;
  std::string text;
};

class BoardSignals {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 16;

  // What lies there now is not carried.
  explicit BoardSignals(std::filesystem::path board);

  // Those that have come since the last call, without those of put(). An error for each that is too large.
  std::vector<BoardSignal> take_new(std::vector<Error>& errors);
  // The turn of one that take_new() has given.
  void see_own(const BoardSignal& signal);
  // The turn of one of another board: appears with its text at once, unless a newer one is there. The error: it cannot.
  std::expected<void, Error> put(const BoardSignal& signal);

 private:
  // One file: a file of the same name that is put in its place is another.
  struct Seen {
    uint64_t inode = 0;
    int64_t changed_ns = 0;
    bool operator==(const Seen&) const = default;
  };
  static Seen look_at(const std::filesystem::path& file);
  bool has_newer(const std::string& name) const;
  // Calls see(name, path) for each file that is new.
  template <typename See>
  void for_each_new(See&& see);

  std::filesystem::path board_;
  std::map<std::string, Seen> seen_;
  std::map<std::string, uint32_t> own_;  // by name: those given whose turn has not come
};

}  // namespace softspine::testbeds
