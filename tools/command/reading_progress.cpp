// SPDX-License-Identifier: Apache-2.0
#include "tools/command/reading_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "tools/command/complain.hpp"

namespace softspine::tools {

ReadingProgress::ReadingProgress() : terminal_(isatty(STDERR_FILENO) != 0) {}

ReadingProgress::~ReadingProgress() {
  if (shown_ && terminal_) complain("\r\x1b[K");
}

void ReadingProgress::show(const std::string& file, uint64_t offset, uint64_t bytes, const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds{terminal_ ? 500 : 5'000}) return;
  last_ = now;
  shown_ = true;
  const std::string share = bytes == 0 ? "" : fmt::format("{} %, ", std::min<uint64_t>(100, offset * 100 / bytes));
  complain("{}{}: {}{}{}", terminal_ ? "\r\x1b[K" : "", file, share, what, terminal_ ? "" : "\n");
}

}  // namespace softspine::tools
