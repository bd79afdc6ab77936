// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/guest_layers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/guests/owned_folder.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

namespace fs = std::filesystem;

using Done = std::expected<void, Error>;

constexpr mode_t kPermissions = 0777;

std::unexpected<Error> wrong(const fs::path& path, std::string message) {
  return std::unexpected(Error{path.string(), std::move(message)});
}
std::unexpected<Error> wrong(const fs::path& path) {
  return wrong(path, std::strerror(errno));
}

class Copier {
 public:
  Copier(fs::path tree, uint64_t most_bytes, uint64_t most_entries)
      : tree_(std::move(tree)), bytes_left_(most_bytes), entries_left_(most_entries) {}

  Done lay(const LaidFile& file) {
    fs::path place = tree_;
    const fs::path within = fs::path(file.place).relative_path();
    for (const fs::path& part : within.parent_path()) {
      place /= part;
      if (auto made = make_folder(place, file); !made) return made;
    }
    return copy(file.source, tree_ / within);
  }

 private:
  // One that is on the way to a file.
  static Done make_folder(const fs::path& place, const LaidFile& file) {
    constexpr mode_t kUsual = 0755;
    struct stat found{};
    if (lstat(place.c_str(), &found) != 0) {
      return mkdir(place.c_str(), kUsual) == 0 && chmod(place.c_str(), kUsual) == 0 ? Done{} : Done{wrong(place)};
    }
    if (S_ISDIR(found.st_mode)) return {};
    return wrong(file.source, "cannot lie at " + file.place + ": what is laid above it is a link or a file");
  }

  Done copy(const fs::path& source, const fs::path& place) {
    struct stat found{};
    if (lstat(source.c_str(), &found) != 0) return wrong(source);
    if (entries_left_ == 0) return wrong(source, too_much("entries"));
    --entries_left_;
    if (S_ISDIR(found.st_mode)) return copy_folder(source, place, found);
    // What an earlier folder has brought here.
    if (unlink(place.c_str()) != 0 && errno != ENOENT) return wrong(place);
    if (S_ISLNK(found.st_mode)) return copy_link(source, place);
    if (S_ISREG(found.st_mode)) return copy_file(source, place);
    return wrong(source, "is neither a file, a folder nor a link");
  }

  static std::string too_much(const std::string& what) {
    return "is more than a guest's 'files' may hold (1 GiB, 100,000 entries): too many " + what +
           "; what is large belongs in 'root', which is not copied";
  }

  static Done copy_link(const fs::path& source, const fs::path& place) {
    std::error_code error;
    const fs::path target = fs::read_symlink(source, error);
    if (error) return wrong(source, error.message());
    return symlink(target.c_str(), place.c_str()) == 0 ? Done{} : Done{wrong(place)};
  }

  // Its owner keeps the right to remove what it holds.
  Done copy_folder(const fs::path& source, const fs::path& place, const struct stat& found) {
    if (auto made = make_folder(place, {place.string(), source}); !made) return made;
    std::error_code error;
    for (fs::directory_iterator entry(source, error); !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
      if (auto done = copy(entry->path(), place / entry->path().filename()); !done) return done;
    }
    if (error) return wrong(source, error.message());
    if (chmod(place.c_str(), (found.st_mode & kPermissions) | S_IRWXU) != 0) return wrong(place);
    return stamp(AT_FDCWD, place.c_str(), found) ? Done{} : Done{wrong(place)};
  }

  static bool stamp(int folder, const char* path, const struct stat& found) {
    const std::array times{found.st_atim, found.st_mtim};
    return utimensat(folder, path, times.data(), 0) == 0;
  }

  Done copy_file(const fs::path& source, const fs::path& place) {
    const OwnedFd from(open(source.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat found{};
    if (from.get() < 0 || fstat(from.get(), &found) != 0) return wrong(source);
    if (!S_ISREG(found.st_mode)) return wrong(source, "is no regular file");
    const OwnedFd to(open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (to.get() < 0) return wrong(place);
    if (auto done = copy_bytes(from.get(), source, to.get(), place); !done) return done;
    const std::array times{found.st_atim, found.st_mtim};
    const bool good = fchmod(to.get(), found.st_mode & kPermissions) == 0 && futimens(to.get(), times.data()) == 0;
    return good ? Done{} : Done{wrong(place)};
  }

  // As long as the file is, however long it was: some grow, and those of /proc have no length.
  Done copy_bytes(int from, const fs::path& source, int to, const fs::path& place) {
    std::array<char, 1 << 16> part;
    for (;;) {
      const ssize_t got = read(from, part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return wrong(source);
      if (got == 0) return {};
      const auto bytes = static_cast<uint64_t>(got);
      if (bytes > bytes_left_) return wrong(source, too_much("bytes"));
      bytes_left_ -= bytes;
      for (size_t written = 0; written < bytes;) {
        const ssize_t now = write(to, part.data() + written, bytes - written);
        if (now < 0 && errno != EINTR) return wrong(place);
        written += static_cast<size_t>(std::max<ssize_t>(now, 0));
      }
    }
  }

  fs::path tree_;
  uint64_t bytes_left_;
  uint64_t entries_left_;
};

}  // namespace

fs::path files_folder(const fs::path& run_folder, const std::string& guest) {
  return run_folder / (guest + ".files");
}

fs::path files_tree(const fs::path& folder) {
  return folder / "tree";
}

Done lay_files(const fs::path& folder, const std::vector<LaidFile>& files, uint64_t most_bytes, uint64_t most_entries) {
  if (auto emptied = empty_folder(folder); !emptied) return emptied;
  const fs::path tree = files_tree(folder);
  if (mkdir(tree.c_str(), 0755) != 0 || chmod(tree.c_str(), 0755) != 0) return wrong(tree);
  Copier copier(tree, most_bytes, most_entries);
  for (const LaidFile& file : files) {
    if (auto laid = copier.lay(file); !laid) return laid;
  }
  return {};
}

void remove_files(const fs::path& folder) {
  std::error_code none;
  fs::remove_all(folder, none);
}

}  // namespace softspine::testbeds
