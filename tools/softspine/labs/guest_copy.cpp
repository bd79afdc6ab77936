// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/labs/guest_copy.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/attended_program.hpp"
#include "testbeds/process/wait_status.hpp"
#include "tools/command/complain.hpp"
#include "tools/softspine/labs/guest_program.hpp"

namespace softspine::tools {

using dataplane::OwnedFd;
namespace fs = std::filesystem;

namespace {

// In the guest, in /guest: $1 is the path. A file of /proc has a size of 0, one of /sys a page, by which tar goes, and
// holds something else: so small files are read first.
constexpr const char* kPack = R"sh(copy=''
case $1 in -*) set -- "./$1" ;; esac
path=$(realpath "$1") && [ -e "$path" ] || { echo "softspine: $1: no such file or folder" >&2; exit 1; }
[ "$path" != / ] || { echo "softspine: /: all of a guest's files are not one folder" >&2; exit 1; }
cd "$(dirname "$path")" && name=$(basename "$path") || exit 1
if [ -d "$path" ]; then
  case $path in
    /proc | /proc/* | /sys | /sys/*) echo "softspine: $1: folders of /proc and /sys cannot be copied, files can" >&2; exit 1 ;;
  esac
fi
[ -f "$path" ] && [ "$(stat -c %s "$path")" -le 4096 ] || exec tar -chf - -- "$name"
trap '[ -z "$copy" ] || rm -r "$copy"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
copy=$(mktemp -d /tmp/cp.XXXXXX) && cp "$path" "$copy/$name" && cd "$copy" && tar -cf - -- "$name")sh";

// $1 is the path, $2 the name in the archive.
constexpr const char* kUnpack = R"sh(case $1 in -*) set -- "./$1" "$2" ;; esac
if [ -d "$1" ]; then exec tar -oxf - -C "$1"; fi
new="$1.$$.new"
mkdir "$new" || exit 1
trap 'rm -rf "$new"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
tar -oxf - -C "$new" && mv -f "$new/$2" "$1")sh";

// A program of this machine beside that in the guest: one writes what the other reads.
class Beside {
 public:
  // `its`: which of its streams is the pipe.
  Beside(std::vector<std::string> command, int its) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    ours_ = OwnedFd{ends[its == STDIN_FILENO ? 1 : 0]};
    const OwnedFd theirs{ends[its == STDIN_FILENO ? 0 : 1]};
    process_ = fork();
    if (process_ != 0) return;
    dup2(theirs.get(), its);
    _exit(testbeds::become_program(command));
  }
  int pipe() const { return ours_.get(); }
  bool has_begun() const { return process_ > 0; }
  // Closes the pipe: the program's input ends there.
  int end() {
    ours_ = OwnedFd{};
    int how = 0;
    while (waitpid(process_, &how, 0) < 0 && errno == EINTR) {
    }
    return testbeds::exit_status_of(how);
  }

 private:
  OwnedFd ours_;
  pid_t process_ = -1;
};

// A folder beside `to`, of its file system, that goes with this object.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& to) {
    std::error_code none;
    const fs::path parent = fs::is_directory(to, none) ? to : to.parent_path();
    std::string pattern = ((parent.empty() ? fs::path(".") : parent) / ".softspine-cp.XXXXXX").native();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code none;
    if (!path_.empty()) fs::remove_all(path_, none);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// tar's 2, and what a shell has for a program that is not there, are a copy that failed.
std::expected<int, std::string> status_of_copy(const std::expected<int, std::string>& status) {
  if (!status || *status == 0 || *status > testbeds::kSignalStatus) return status;
  return 1;
}

fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

int complain_about(const fs::path& path, const std::string& why) {
  complain("softspine: {}: {}\n", path.native(), why);
  return 1;
}

// A file does not go into a folder that is there, under a name that nobody has asked for.
int copy_whole(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::is_directory(to, error) && !fs::is_directory(from, error)) return complain_about(to, "is a folder");
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing, error);
  if (!error) return 0;
  complain("softspine: {} to {}: {}\n", from.native(), to.native(), error.message());
  return 1;
}

bool is_name(const fs::path& name) {
  return !name.empty() && name != "." && name != "..";
}

// What an archive of a guest may hold is files and folders: a link would lead whoever follows it where the guest wants,
// and a program with another user's rights is not what anybody has asked for. Nobody else reaches the folder.
int refuse_all_but_files(const fs::path& folder, const std::string& from) {
  std::error_code error;
  for (fs::recursive_directory_iterator each{folder, error}; !error && each != fs::recursive_directory_iterator{};
       each.increment(error)) {
    const fs::file_status found = fs::symlink_status(each->path(), error);
    if (error) break;
    if (found.type() != fs::file_type::regular && found.type() != fs::file_type::directory) {
      return complain_about(from, "the guest has sent what is neither a file nor a folder: " +
                                      each->path().lexically_relative(folder).native());
    }
    const bool is_folder = found.type() == fs::file_type::directory;
    const fs::perms bits =
        (found.permissions() & fs::perms::all) | (is_folder ? fs::perms::owner_all : fs::perms::owner_read);
    fs::permissions(each->path(), bits, error);
    if (error) break;
  }
  return error ? complain_about(from, error.message()) : 0;
}

std::vector<std::string> shell_words(const char* script, std::vector<std::string> arguments) {
  std::vector<std::string> words{"sh", "-c", script, "cp"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

int copy_files(const fs::path& from, fs::path to) {
  std::error_code error;
  const fs::path plain = without_slash(from);
  if (plain.filename() == "..") return complain_about(from, "has no name to copy it under");
  if (fs::is_directory(to, error)) to /= plain.filename();
  return copy_whole(plain, to);
}

std::expected<int, std::string> copy_to_guest(const HostEntrance& entrance, const fs::path& from,
                                              const std::string& to) {
  std::error_code error;
  const fs::path path = fs::canonical(from, error);
  if (error) return complain_about(from, error.message());
  // The name is that of the link, if it is one.
  const fs::path named = without_slash(from).filename();
  const std::string name = is_name(named) ? named : path.filename();
  if (!is_name(name)) return complain_about(from, "has no name to copy it under");
  const fs::path folder = name == path.filename() ? path.parent_path() : without_slash(from).parent_path();
  Beside tar{{"tar", "-C", folder.empty() ? "." : folder.native(), "-chf", "-", "--", name}, STDOUT_FILENO};
  if (!tar.has_begun()) return complain_about(from, std::strerror(errno));
  const auto status = run_in_guest(entrance, shell_words(kUnpack, {to.empty() ? "." : to, name}),
                                   {.input = tar.pipe(), .may_be_terminal = false});
  const int packed = tar.end();
  return status_of_copy(!status || *status != 0 ? status : packed);
}

std::expected<int, std::string> copy_from_guest(const HostEntrance& entrance, const std::string& from, fs::path to) {
  // Not the name that the guest sends.
  const fs::path name = without_slash(from).filename();
  if (!is_name(name)) return complain_about(from, "has no name to copy it under");
  const WorkFolder work{to};
  if (work.path().empty()) return complain_about(to, std::strerror(errno));
  Beside tar{
      {"tar", "-C", work.path().native(), "--no-same-owner", "--no-same-permissions", "--no-overwrite-dir", "-xf", "-"},
      STDIN_FILENO};
  if (!tar.has_begun()) return complain_about(to, std::strerror(errno));
  const OwnedFd nothing{open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const auto status = run_in_guest(entrance, shell_words(kPack, {from}),
                                   {.input = nothing.get(), .output = tar.pipe(), .may_be_terminal = false});
  const int unpacked = tar.end();
  if (!status || *status != 0) return status_of_copy(status);
  if (unpacked != 0) return status_of_copy(unpacked);
  if (const int refused = refuse_all_but_files(work.path(), from); refused != 0) return refused;
  fs::directory_iterator found{work.path()};
  if (found == fs::directory_iterator{}) return complain_about(from, "the guest has sent nothing");
  const fs::path only = found->path();
  if (++found != fs::directory_iterator{}) return complain_about(from, "the guest has sent more than it");
  std::error_code none;
  if (fs::is_directory(to, none)) to /= name;
  return copy_whole(only, to);
}

}  // namespace softspine::tools
