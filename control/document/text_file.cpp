// SPDX-License-Identifier: Apache-2.0
#include "control/document/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {

// Never more than one byte past the limit, whatever the size that the file system claims.
std::expected<std::string, std::string> read_text_file(const std::string& path, bool only_files, size_t most) {
  const dataplane::OwnedFd file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.get() < 0) return std::unexpected(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat info{};
  if (fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode)) return std::unexpected("is a directory");
  if (only_files && !S_ISREG(info.st_mode)) return std::unexpected("is not a file");
  // A pipe (`softspine check <(…)`) may wait for its writer; the opening may not.
  fcntl(file.get(), F_SETFL, 0);
  std::string text;
  if (S_ISREG(info.st_mode) && info.st_size > 0)
    text.reserve(std::min<size_t>(static_cast<size_t>(info.st_size), most) + 1);
  char block[65'536];
  while (text.size() <= most) {
    const ssize_t n = ::read(file.get(), block, std::min(sizeof block, most + 1 - text.size()));
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(std::string("cannot be read: ") + std::strerror(errno));
    text.append(block, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace softspine::control
