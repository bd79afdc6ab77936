// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/owned_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/kept_process.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".softspine";
constexpr std::string_view kMarkText =
    "softspine keeps files of a run here. The next run with this --folder removes them or writes over them.\n";

std::unexpected<Error> failed(const fs::path& path) {
  return std::unexpected(Error{path.string(), std::strerror(errno)});
}

bool is_marked(const fs::path& folder) {
  std::error_code none;
  return fs::symlink_status(folder / kMark, none).type() == fs::file_type::regular;
}

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(to, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return true;
}

}  // namespace

std::expected<void, Error> check_folder(const fs::path& folder) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(folder, error).type();
  if (type == fs::file_type::not_found) return {};
  if (type == fs::file_type::none) return std::unexpected(Error{folder.string(), error.message()});
  if (type != fs::file_type::directory) {
    return std::unexpected(Error{folder.string(), "is needed for a folder of this run's, and is none"});
  }
  if (is_marked(folder)) return {};
  const bool is_empty = fs::is_empty(folder, error);
  if (error) return std::unexpected(Error{folder.string(), error.message()});
  if (is_empty) return {};
  return std::unexpected(Error{folder.string(),
                               "holds files, and no .softspine, which marks the folders of runs; nothing in it was "
                               "touched: name another --folder, or move it away"});
}

std::expected<void, Error> take_folder(const fs::path& folder) {
  if (auto ours = check_folder(folder); !ours) return ours;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return std::unexpected(Error{folder.string(), error.message()});
  return is_marked(folder) ? std::expected<void, Error>{} : write_new_file(folder / kMark, kMarkText);
}

std::expected<void, Error> empty_folder(const fs::path& folder) {
  if (auto taken = take_folder(folder); !taken) return taken;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator{};
       entry.increment(error)) {
    if (entry->path().filename() == kMark) continue;
    fs::remove_all(entry->path(), error);
    if (error) break;
  }
  return error ? std::unexpected(Error{folder.string(), error.message()}) : std::expected<void, Error>{};
}

std::expected<void, Error> write_new_file(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return std::unexpected(Error{path.string(), error.message()});
  const OwnedFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.get() < 0 || !write_all(file.get(), text)) return failed(path);
  return {};
}

std::expected<std::string, Error> read_file_end(const fs::path& path, std::size_t most_bytes) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat found{};
  if (file.get() < 0 || fstat(file.get(), &found) != 0) return failed(path);
  if (!S_ISREG(found.st_mode)) return std::unexpected(Error{path.string(), "is no regular file"});
  const auto size = static_cast<std::size_t>(found.st_size);
  std::string text(std::min(size, most_bytes), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got =
        pread(file.get(), text.data() + have, text.size() - have, static_cast<off_t>(size - text.size() + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(path);
    if (got == 0) break;  // cut meanwhile
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

}  // namespace softspine::testbeds
