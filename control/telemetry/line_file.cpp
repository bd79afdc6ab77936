// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/line_file.hpp"

#include <cerrno>
#include <cstring>

namespace softspine::control {

std::expected<LineFile, std::string> LineFile::open(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return std::unexpected(std::strerror(errno));
  std::setvbuf(file, nullptr, _IONBF, 0);  // text_ is the buffer
  return LineFile{file};
}

void LineFile::write() {
  if (error_.empty() && std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) {
    error_ = std::strerror(errno);
  }
  text_.clear();
}

std::expected<void, std::string> LineFile::flush() {
  if (!text_.empty()) write();
  return error_.empty() ? std::expected<void, std::string>{} : std::unexpected(error_);
}

}  // namespace softspine::control
