// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/labs/guest_copy.hpp"

#include <fcntl.h>
#include <signal.h>
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
#include "tools/command/complain.hpp"
#include "tools/softspine/labs/guest_program.hpp"

namespace softspine::tools {

using dataplane::OwnedFd;
namespace fs = std::filesystem;

namespace {

// In the guest: $1 is the path. A file of /proc has a size of 0, by which tar goes, and holds something none the less.
constexpr const char* kPack = R"sh(cd /guest
path=$(realpath "$1") && [ -e "$path" ] || { echo "softspine: $1: no such file or folder" >&2; exit 1; }
[ "$path" != / ] || { echo "softspine: /: all of a guest's files are not one folder" >&2; exit 1; }
cd "$(dirname "$path")" && name=$(basename "$path") || exit 1
if [ -f "$name" ] && [ ! -s "$name" ]; then
  copy=$(mktemp -d /tmp/cp.XXXXXX) && cp "$name" "$copy/$name" && cd "$copy" || exit 1
fi
tar -chf - -- "$name"
status=$?
[ -z "$copy" ] || rm -r "$copy"
exit $status)sh";

// $1 is the path, $2 the name in the archive.
constexpr const char* kUnpack = R"sh(cd /guest
if [ -d "$1" ]; then exec tar -oxf - -C "$1"; fi
mkdir "$1.$$.new" && tar -oxf - -C "$1.$$.new" && mv -f "$1.$$.new/$2" "$1"
status=$?
rm -rf "$1.$$.new"
exit $status)sh";

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
    if (process_ > 0) signal(SIGPIPE, SIG_IGN);  // if it ends first, its status says so
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
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
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

int complain_about(const fs::path& path, const std::string& why) {
  complain("softspine: {}: {}\n", path.native(), why);
  return 1;
}

fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

std::vector<std::string> shell_words(const char* script, std::vector<std::string> arguments) {
  std::vector<std::string> words{"sh", "-c", script, "cp"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

int copy_files(const fs::path& from, fs::path to, fs::copy_options links) {
  std::error_code error;
  const fs::path plain = without_slash(from);
  if (fs::is_directory(to, error)) to /= plain.filename();
  fs::copy(plain, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing | links, error);
  if (!error) return 0;
  complain("softspine: {} to {}: {}\n", from.native(), to.native(), error.message());
  return 1;
}

std::expected<int, std::string> copy_to_guest(const HostEntrance& entrance, const fs::path& from,
                                              const std::string& to) {
  std::error_code error;
  const fs::path path = fs::canonical(from, error);
  if (error) return complain_about(from, error.message());
  // The name is that of the link, if it is one.
  const fs::path named = without_slash(from).filename();
  const std::string name = named == "." || named == ".." || named.empty() ? path.filename() : named;
  const fs::path folder = name == path.filename() ? path.parent_path() : without_slash(from).parent_path();
  Beside tar{{"tar", "-C", folder.empty() ? "." : folder.native(), "-chf", "-", "--", name}, STDOUT_FILENO};
  if (!tar.has_begun()) return complain_about(from, std::strerror(errno));
  const auto status =
      run_in_guest(entrance, shell_words(kUnpack, {to, name}), {.input = tar.pipe(), .may_be_terminal = false});
  const int packed = tar.end();
  if (!status || *status != 0) return status;
  return packed;
}

std::expected<int, std::string> copy_from_guest(const HostEntrance& entrance, const std::string& from,
                                                const fs::path& to) {
  const WorkFolder work{to};
  if (work.path().empty()) return complain_about(to, std::strerror(errno));
  Beside tar{{"tar", "-C", work.path().native(), "--no-same-owner", "-xf", "-"}, STDIN_FILENO};
  if (!tar.has_begun()) return complain_about(to, std::strerror(errno));
  const OwnedFd nothing{open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const auto status = run_in_guest(entrance, shell_words(kPack, {from}),
                                   {.input = nothing.get(), .output = tar.pipe(), .may_be_terminal = false});
  const int unpacked = tar.end();
  if (!status || *status != 0) return status;
  if (unpacked != 0) return unpacked;
  const fs::directory_iterator found{work.path()};
  if (found == fs::directory_iterator{}) return complain_about(from, "the guest has sent nothing");
  return copy_files(found->path(), to, fs::copy_options::copy_symlinks);
}

}  // namespace softspine::tools
