// SPDX-License-Identifier: Apache-2.0
// Shows how far the reading of captures is: a line on stderr now and then, on a terminal always the same one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace softspine::tools {

class ReadingProgress {
 public:
  ReadingProgress();
  ~ReadingProgress();
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;

  // A ProgressFunction (analysis/reading/progress.hpp).
  void show(const std::string& file, uint64_t offset, uint64_t bytes, const std::string& what);

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace softspine::tools
