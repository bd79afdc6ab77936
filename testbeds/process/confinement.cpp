// SPDX-License-Identifier: Apache-2.0
#include "testbeds/process/confinement.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

namespace fs = std::filesystem;

constexpr int kCannotStart = 126;

// The rights of a guest's root over the files of its own folder. Not CAP_DAC_READ_SEARCH, by which a file is opened by
// its number, wherever it lies.
constexpr std::array kKeptRights = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID};
constexpr std::array kDevices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
constexpr std::array kLinksToUsr = {"/bin", "/sbin", "/lib", "/lib32", "/lib64"};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "softspine-keeper: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(kCannotStart);
}

std::string why_not(const char* call) {
  return std::string(call) + ": " + std::strerror(errno);
}

// A file or folder that will be seen under its path. Its descriptor is taken before anything is mounted over it.
struct Seen {
  std::string path;
  bool read_only = false;
  OwnedFd source;
};

void add_seen(std::vector<Seen>& all, const std::string& path, bool read_only) {
  OwnedFd source(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (source.get() >= 0) all.push_back({path, read_only, std::move(source)});
}

std::vector<Seen> all_seen(const Sight& sight) {
  std::vector<Seen> all;
  add_seen(all, "/usr", true);
  for (const char* path : kLinksToUsr) {
    std::error_code none;
    if (!fs::is_symlink(path, none)) add_seen(all, path, true);
  }
  for (const char* path : kDevices) add_seen(all, path, false);
  for (const std::string& path : sight.read) add_seen(all, path, true);
  for (const std::string& path : sight.write) add_seen(all, path, false);
  // A folder comes before those inside it.
  std::ranges::stable_sort(all, {}, [](const Seen& seen) { return seen.path.size(); });
  return all;
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  errno = error.value();
  if (error) give_up(path);
}

void make_place(const Seen& seen, const std::string& place) {
  struct stat what{};
  if (fstat(seen.source.get(), &what) != 0) give_up(seen.path);
  if (S_ISDIR(what.st_mode)) return make_folder(place);
  make_folder(fs::path(place).parent_path());
  if (access(place.c_str(), F_OK) == 0) return;
  const OwnedFd file(open(place.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (file.get() < 0) give_up(place);
}

void bind(const Seen& seen, const std::string& root) {
  const std::string place = root + seen.path;
  make_place(seen, place);
  const std::string source = "/proc/self/fd/" + std::to_string(seen.source.get());
  if (mount(source.c_str(), place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) give_up(seen.path);
  if (!seen.read_only) return;
  mount_attr change{};
  change.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(AT_FDCWD, place.c_str(), AT_RECURSIVE, &change, sizeof change) != 0) give_up(seen.path);
}

void fill(const std::string& root, const std::vector<Seen>& all) {
  for (const Seen& seen : all) bind(seen, root);
  for (const char* path : kLinksToUsr) {
    std::error_code none;
    const fs::path target = fs::read_symlink(path, none);
    if (!none && symlink(target.c_str(), (root + path).c_str()) != 0) give_up(path);
  }
  constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
  for (const char* folder : {"/proc", "/dev/shm"}) make_folder(root + folder);
  if (mount("tmpfs", (root + "/dev/shm").c_str(), "tmpfs", kPlain, "mode=1777") != 0) give_up("/dev/shm");
  // Read only: /proc/sys/kernel/core_pattern, and its like, ask root for no right beside being its owner. Where part of
  // /proc is hidden from us, we may not show it anew, and it stays empty.
  static_cast<void>(mount("proc", (root + "/proc").c_str(), "proc", kPlain | MS_NOEXEC | MS_RDONLY, nullptr));
}

void enter(const std::string& root) {
  if (chdir(root.c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) give_up("pivot_root");
  if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) give_up("umount");
}

void give_rights_up() {
  for (int right = 0; prctl(PR_CAPBSET_READ, right) >= 0; ++right) {
    if (std::ranges::find(kKeptRights, right) == kKeptRights.end()) prctl(PR_CAPBSET_DROP, right);
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

}  // namespace

std::string confine(const Sight& sight) {
  if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0) return why_not("unshare");
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return why_not("mount");
  const std::vector<Seen> all = all_seen(sight);
  // Any folder will do: what it holds is hidden from nobody but us, and not for long.
  for (const std::string root : {"/mnt", "/tmp", "/run"}) {
    if (mount("tmpfs", root.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) continue;
    fill(root, all);
    enter(root);
    give_rights_up();
    return "";
  }
  return why_not("mount");
}

}  // namespace softspine::testbeds
