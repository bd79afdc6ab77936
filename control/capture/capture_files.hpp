// SPDX-License-Identifier: Apache-2.0
// The files that a capture is written to, one after the other: a new one begins when the last would exceed `bytes`, or
// when `every` has passed in emulated time. Each begins with the head, so that it can be read alone. The last `keep` of
// them are kept.
//
//   without rotation    out.pcapng
//   with                out-00001.pcapng, out-00002.pcapng, …
//
// A frame larger than `bytes` has a file of its own. The first error (disk full, …) sticks, and nothing is written
// after it. A pipe whose reader takes nothing is waited for, but not for ever: see end_soon().
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <string>

#include "control/capture/pcapng.hpp"

namespace softspine::control {

struct Rotation {
  uint64_t bytes = 0;         // 0: whatever the size
  dataplane::Duration every;  // 0: whatever the time
  uint32_t keep = 0;          // 0: all
  bool any() const { return bytes != 0 || every.count_ps() != 0; }
};

class CaptureFiles {
 public:
  // Creates the first file, or empties it. The error is a sentence. `wait_for_reader`: opening a named pipe waits for
  // its reader; else a pipe without a reader is an error at once.
  static std::expected<CaptureFiles, std::string> open(const std::string& path, const Rotation& rotation,
                                                       bool wait_for_reader = false);
  // A file that is open already, and stays the only one.
  explicit CaptureFiles(int file);
  CaptureFiles(CaptureFiles&& other) noexcept;
  ~CaptureFiles() { close(); }

  // Sets what every file begins with, and writes it to this one. `room_for_end`: bytes that append(statistics) will add
  // to the last file, and that a rotation by size must leave in each.
  void begin(const pcapng::Bytes& head, size_t room_for_end = 0);
  void append(const pcapng::Frame& frame, size_t encoded_bytes);
  void append(const pcapng::Statistics& statistics);
  // Even with nothing to write it notices that the reader of a pipe has gone.
  void flush();
  void close();
  // From any thread: from now on, a reader that takes nothing for long is given up (dataplane/edge/patient_write.hpp).
  void end_soon() { ending_.store(true, std::memory_order_relaxed); }

  bool rotates() const { return rotation_.any(); }
  uint64_t bytes() const { return bytes_; }  // of all files
  uint32_t count() const { return number_; }
  const std::string& error() const { return error_; }
  // The file, or all of them as a pattern.
  const std::string& name() const { return name_; }

 private:
  CaptureFiles(int file, std::string path, const Rotation& rotation);
  bool is_time_for_the_next(dataplane::Instant at, size_t encoded_bytes);
  void turn();
  std::string numbered(uint32_t number) const;

  int file_;
  std::string path_;
  std::string name_;
  Rotation rotation_;
  pcapng::Bytes head_;
  size_t room_for_end_ = 0;
  pcapng::Bytes out_;  // not written yet
  uint64_t bytes_ = 0;
  uint64_t bytes_in_file_ = 0;
  uint64_t frames_in_file_ = 0;
  dataplane::Instant next_turn_ = dataplane::Instant::never();
  uint32_t number_ = 1;
  std::string error_;
  std::atomic<bool> ending_{false};
};

}  // namespace softspine::control
