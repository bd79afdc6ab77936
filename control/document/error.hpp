// SPDX-License-Identifier: Apache-2.0
// One thing that is wrong with a file: where, and what.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace softspine::control {

struct Error {
  std::string file;
  std::string path;  // "topology.links[3].endpoints[0]"; empty: the file itself
  int line = 0;      // from 1; 0: the file as a whole
  int column = 0;
  std::string message;
  friend bool operator==(const Error&, const Error&) = default;
};

using Errors = std::vector<Error>;

// A position in a file, kept for errors that can only be found when the whole fabric is known.
struct Place {
  std::string file;
  std::string path;
  int line = 0;
  int column = 0;
};
inline Error error_at(const Place& place, std::string message) {
  return {place.file, place.path, place.line, place.column, std::move(message)};
}

// Parts of another system's file that nothing here reads: keys of a table or, if `what` is empty, a table as a
// whole.
struct IgnoredPart {
  std::string file;
  int line = 0;  // of the first
  std::string table;
  std::string what;
  uint64_t count = 0;  // how often, or rows of the table
};

// Sorts errors by their position.
void sort_by_place(Errors& errors);

// FILE:LINE:COLUMN: path: message
std::string to_string(const Error& error);

}  // namespace softspine::control
