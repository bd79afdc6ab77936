// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/text_lines.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace softspine::analysis::storm {

std::expected<TextLines, std::string> TextLines::open(const std::string& path, const std::string& what,
                                                      uint64_t most_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return std::unexpected(path + ": is a directory, not " + what);
  std::ifstream file{path};
  if (!file) return std::unexpected(path + ": " + std::strerror(errno));
  return TextLines{path, std::move(file), most_bytes};
}

bool TextLines::fail(std::string error) {
  error_ = std::move(error);
  return false;
}

bool TextLines::next(std::string& line) {
  constexpr int kEnd = std::char_traits<char>::eof();
  line.clear();
  if (!error_.empty()) return false;
  for (;;) {
    const int got = file_.get();
    if (file_.bad()) return fail(path_ + ": " + std::strerror(errno));
    is_cut_ = got == kEnd;
    if (is_cut_ && line.empty()) return false;
    if (is_cut_) break;
    if (left_ == 0) return fail(fmt::format("{}:{}: the text is too long, or has no end", path_, number_ + 1));
    --left_;
    if (got == '\n') break;
    if (line.size() == kMaxLine) {
      return fail(fmt::format("{}:{}: is too long: at most {} bytes", path_, number_ + 1, kMaxLine));
    }
    line += static_cast<char>(got);
  }
  ++number_;
  return true;
}

}  // namespace softspine::analysis::storm
