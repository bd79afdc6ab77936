// SPDX-License-Identifier: Apache-2.0
#include "control/record/line_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "dataplane/edge/patient_write.hpp"

namespace softspine::control {

namespace {

constexpr mode_t kNewFile = 0666;  // as the umask has it

}  // namespace

std::expected<LineFile, std::string> LineFile::open(const std::string& path, const std::atomic<bool>* ending) {
  dataplane::OwnedFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kNewFile)};
  if (!file) return std::unexpected(std::strerror(errno));
  dataplane::stop_blocking(file.get());
  return LineFile{std::move(file), ending};
}

void LineFile::write() {
  if (error_.empty()) {
    const dataplane::Written written = dataplane::write_patiently(file_.get(), text_.data(), text_.size(), ending_);
    if (written.error != 0) error_ = dataplane::why_not_written(written.error);
  }
  text_.clear();
}

std::string LineFile::take_error() {
  if (was_told_ || error_.empty()) return "";
  was_told_ = true;
  return error_;
}

}  // namespace softspine::control
