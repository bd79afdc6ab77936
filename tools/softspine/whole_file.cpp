// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::tools {

namespace {

using dataplane::OwnedFd;
using Outcome = std::expected<void, std::string>;

constexpr mode_t kNewFile = 0666;  // as the umask has it
constexpr mode_t kModeBits = 07777;
constexpr int kNamesTried = 100;

Outcome failed() {
  return std::unexpected(std::strerror(errno));
}

Outcome write_all(const OwnedFd& file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return failed();
    done += n < 0 ? 0 : static_cast<size_t>(n);
  }
  return {};
}

Outcome close_now(OwnedFd& file) {
  if (::close(file.release()) != 0) return failed();
  return {};
}

Outcome write_in_place(const std::filesystem::path& path, const std::string& text) {
  OwnedFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kNewFile)};
  if (!file) return failed();
  if (const Outcome written = write_all(file, text); !written) return written;
  return close_now(file);
}

// Our own stdout or stderr, if they lead there: what is printed there has to stay, and must not be written over.
OwnedFd stream_to(const struct stat& place) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat it{};
    if (::fstat(stream, &it) != 0 || it.st_dev != place.st_dev || it.st_ino != place.st_ino) continue;
    return OwnedFd{::fcntl(stream, F_DUPFD_CLOEXEC, 0)};
  }
  return OwnedFd{};
}

// A name that nobody has, beside the file's. No file: there may be none, and `name` says nothing.
OwnedFd make_beside(const std::filesystem::path& path, std::filesystem::path& name) {
  for (int i = 0; i < kNamesTried; ++i) {
    name = path.string() + "." + std::to_string(getpid()) + "-" + std::to_string(i) + ".part";
    OwnedFd file{::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFile)};
    if (file || errno != EEXIST) return file;
  }
  return OwnedFd{};
}

Outcome fill_and_rename(OwnedFd file, const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::string& text) {
  if (const Outcome written = write_all(file, text); !written) return written;
  if (::fsync(file.get()) != 0 && errno != EINVAL) return failed();  // EINVAL: a file system without it
  if (const Outcome closed = close_now(file); !closed) return closed;
  if (::rename(from.c_str(), to.c_str()) != 0) return failed();
  return {};
}

// What a link leads to, so that the link stays; empty if that has no name (a deleted file, behind /dev/fd/N).
std::filesystem::path end_of_links(const std::filesystem::path& path) {
  std::error_code none;
  std::filesystem::path end = std::filesystem::canonical(path, none);
  if (!none) return end;
  return std::filesystem::is_symlink(std::filesystem::symlink_status(path, none)) ? "" : path;
}

}  // namespace

Outcome write_whole(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path place = end_of_links(path);
  struct stat before{};
  const bool exists = ::stat(path.c_str(), &before) == 0;
  const int why_not = errno;
  if (OwnedFd stream = exists ? stream_to(before) : OwnedFd{}; stream) {
    std::fflush(nullptr);
    return write_all(stream, text);
  }
  const bool is_ordinary = exists ? S_ISREG(before.st_mode) : why_not == ENOENT;
  if (!is_ordinary || place.empty()) return write_in_place(path, text);
  std::filesystem::path part;
  OwnedFd file = make_beside(place, part);
  if (!file) return write_in_place(path, text);
  if (exists) static_cast<void>(::fchmod(file.get(), before.st_mode & kModeBits));
  const Outcome done = fill_and_rename(std::move(file), part, place, text);
  if (!done) ::unlink(part.c_str());
  return done;
}

std::string obstacle_to_writing(const std::filesystem::path& path) {
  const OwnedFd file{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file) return "";
  if (errno == ENXIO) return "";  // a pipe that nobody reads from yet
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (errno == ENOENT && path.has_filename() && ::access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return std::strerror(errno);
}

}  // namespace softspine::tools
