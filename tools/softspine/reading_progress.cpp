// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reading_progress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tools/softspine/complain.hpp"

namespace softspine::tools {

ReadingProgress::ReadingProgress(std::string file, int descriptor)
    : file_(std::move(file)), terminal_(isatty(STDERR_FILENO) != 0) {
  struct stat about{};
  if (fstat(descriptor, &about) == 0) bytes_ = static_cast<uint64_t>(about.st_size);
}

ReadingProgress::~ReadingProgress() {
  if (shown_ && terminal_) complain("\r\x1b[K");
}

void ReadingProgress::show(uint64_t offset, const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds{terminal_ ? 500 : 5'000}) return;
  last_ = now;
  shown_ = true;
  const std::string share = bytes_ == 0 ? "" : fmt::format("{} %, ", std::min<uint64_t>(100, offset * 100 / bytes_));
  complain("{}{}: {}{}{}", terminal_ ? "\r\x1b[K" : "", file_, share, what, terminal_ ? "" : "\n");
}

}  // namespace softspine::tools
