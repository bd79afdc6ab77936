// SPDX-License-Identifier: Apache-2.0
#include "tools/command/whole_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "dataplane/edge/owned_fd.hpp"
#include "dataplane/edge/patient_write.hpp"
#include "tools/command/complain.hpp"

namespace softspine::tools {

namespace {

using dataplane::OwnedFd;
using Outcome = std::expected<void, std::string>;

constexpr mode_t kNewFile = 0666;  // as the umask has it
constexpr mode_t kModeBits = 07777;
constexpr int kNamesTried = 100;
constexpr std::chrono::milliseconds kLookForReader{100};

Outcome failed() {
  return std::unexpected(std::strerror(errno));
}

Outcome write_all(const OwnedFd& file, const std::string& text, const std::atomic<bool>* ending) {
  const dataplane::Written written = dataplane::write_patiently(file.get(), text.data(), text.size(), ending);
  if (written.error != 0) return std::unexpected(dataplane::why_not_written(written.error));
  return {};
}

Outcome close_now(OwnedFd& file) {
  if (::close(file.release()) != 0) return failed();
  return {};
}

bool is_pipe(const std::filesystem::path& path) {
  struct stat it{};
  const int error = errno;
  const bool found = ::stat(path.c_str(), &it) == 0 && S_ISFIFO(it.st_mode);
  errno = error;
  return found;
}

bool is_over(std::chrono::milliseconds waited, const std::atomic<bool>* ending) {
  return ending != nullptr && ending->load() && waited >= dataplane::kLastWait;
}

// Opened without blocking: a pipe that nobody reads from yet is waited for, and said to be, until `ending`.
OwnedFd open_in_place(const std::filesystem::path& path, const std::atomic<bool>* ending) {
  for (std::chrono::milliseconds waited{0};; waited += kLookForReader) {
    OwnedFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, kNewFile)};
    if (file || errno != ENXIO || !is_pipe(path) || is_over(waited, ending)) return file;
    if (waited.count() == 0) complain("softspine: {}: waiting for somebody to read from this pipe\n", path.string());
    ::poll(nullptr, 0, static_cast<int>(kLookForReader.count()));
  }
}

Outcome write_in_place(const std::filesystem::path& path, const std::string& text, const std::atomic<bool>* ending) {
  OwnedFd file = open_in_place(path, ending);
  if (!file && errno == ENXIO && is_pipe(path)) return std::unexpected("nobody reads from this pipe");
  if (!file) return failed();
  if (const Outcome written = write_all(file, text, ending); !written) return written;
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

// A name that nobody has, beside the file's. No file: there may be none, and `name` is without meaning.
OwnedFd make_beside(const std::filesystem::path& path, std::filesystem::path& name) {
  for (int i = 0; i < kNamesTried; ++i) {
    name = path.string() + "." + std::to_string(getpid()) + "-" + std::to_string(i) + ".part";
    OwnedFd file{::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFile)};
    if (file || errno != EEXIST) return file;
  }
  return OwnedFd{};
}

// The folder takes no further file, whatever room the disk has. Any other reason (no space, no inode) would strike the
// old file, too, and leave it empty.
bool may_not_create(int error) {
  return error == EACCES || error == EPERM || error == EROFS || error == ENAMETOOLONG;
}

Outcome fill_and_rename(OwnedFd file, const std::filesystem::path& from, const std::filesystem::path& to,
                        const std::string& text) {
  if (const Outcome written = write_all(file, text, nullptr); !written) return written;
  if (::fsync(file.get()) != 0 && errno != EINVAL) return failed();  // EINVAL: a file system without it
  if (const Outcome closed = close_now(file); !closed) return closed;
  if (::rename(from.c_str(), to.c_str()) != 0) return failed();
  return {};
}

// The target of a link, so that the link stays; empty if that has no name (a deleted file, behind /dev/fd/N).
std::filesystem::path end_of_links(const std::filesystem::path& path) {
  std::error_code none;
  std::filesystem::path end = std::filesystem::canonical(path, none);
  if (!none) return end;
  return std::filesystem::is_symlink(std::filesystem::symlink_status(path, none)) ? "" : path;
}

}  // namespace

Outcome write_whole(const std::filesystem::path& path, const std::string& text, const std::atomic<bool>* ending) {
  const std::filesystem::path place = end_of_links(path);
  struct stat before{};
  const bool exists = ::stat(path.c_str(), &before) == 0;
  const int why_not = errno;
  if (OwnedFd stream = exists ? stream_to(before) : OwnedFd{}; stream) {
    std::fflush(nullptr);
    return write_all(stream, text, ending);
  }
  const bool is_ordinary = exists ? S_ISREG(before.st_mode) : why_not == ENOENT;
  if (!is_ordinary || place.empty()) return write_in_place(path, text, ending);
  std::filesystem::path part;
  OwnedFd file = make_beside(place, part);
  if (!file) return may_not_create(errno) ? write_in_place(path, text, ending) : failed();
  if (exists) static_cast<void>(::fchmod(file.get(), before.st_mode & kModeBits));
  const Outcome done = fill_and_rename(std::move(file), part, place, text);
  if (!done) ::unlink(part.c_str());
  return done;
}

std::string obstacle_to_writing(const std::filesystem::path& path) {
  // A pipe is not opened: its reader would take our closing it for the end.
  if (is_pipe(path)) return ::access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  const OwnedFd file{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file) return "";
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (errno == ENOENT && path.has_filename() && ::access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return std::strerror(errno);
}

std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace softspine::tools
