// SPDX-License-Identifier: Apache-2.0
#include "control/traces/spill_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace softspine::control {
namespace {

std::string spill_folder() {
  const char* const given = std::getenv("TMPDIR");
  return given != nullptr && *given != 0 ? given : "/var/tmp";
}

int open_nameless(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string name = folder + "/softspine-XXXXXX";  // a file system without O_TMPFILE
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

SpillFile::~SpillFile() {
  if (map_ != nullptr) munmap(const_cast<uint8_t*>(map_), size_);
}

void SpillFile::spill() {
  const std::string folder = spill_folder();
  const auto fail = [&] { failure_ = "cannot write to " + folder + ": " + std::strerror(errno); };
  if (file_.get() < 0) file_ = dataplane::OwnedFd{open_nameless(folder)};
  if (failure_.empty() && file_.get() < 0) fail();
  for (size_t done = 0; failure_.empty() && done < buffer_.size();) {
    const ssize_t n = write(file_.get(), buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail();
    done += n < 0 ? 0 : static_cast<size_t>(n);
  }
  buffer_.clear();
}

std::expected<void, std::string> SpillFile::finish() {
  if (file_.get() < 0 && failure_.empty()) return {};
  spill();
  if (!failure_.empty()) return std::unexpected(failure_);
  void* const map = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_.get(), 0);
  if (map == MAP_FAILED) return std::unexpected(std::string("cannot be mapped: ") + std::strerror(errno));
  map_ = static_cast<const uint8_t*>(map);
  return {};
}

}  // namespace softspine::control
