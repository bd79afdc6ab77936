// SPDX-License-Identifier: Apache-2.0
// How far the reading of a capture is: a line on stderr now and then, on a terminal always the same one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace softspine::tools {

class ReadingProgress {
 public:
  // `descriptor`: of the open file, whose size it takes.
  ReadingProgress(std::string file, int descriptor);
  ~ReadingProgress();
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;

  // `what` was read so far: "12,000 frames".
  void show(uint64_t offset, const std::string& what);

 private:
  std::string file_;
  uint64_t bytes_ = 0;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace softspine::tools
