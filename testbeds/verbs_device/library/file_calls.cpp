// SPDX-License-Identifier: Apache-2.0
// Files of /sys and /dev for programs that open them by libc's calls. A file is memory of the program that has the
// text; a read at its begin gets the text of that instant, since perftest keeps a counter open, and reads it twice. For
// what looks at folders there is a tree of empty files (kFilesVariable).
#undef _FILE_OFFSET_BITS  // would make stat64 of our stat
#include "testbeds/verbs_device/library/file_calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "testbeds/verbs_device/library/device_socket.hpp"

namespace softspine::testbeds {

namespace {

constexpr int kFiles = 1024;  // descriptors above are not read anew
constexpr size_t kPathBytes = 120;

struct OpenFile {
  std::atomic<uint64_t> inode;  // 0: none of ours
  char path[kPathBytes];
};
OpenFile files[kFiles];

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

uint64_t inode_of(int fd) {
  struct stat facts{};
  return syscall(SYS_newfstatat, fd, "", &facts, AT_EMPTY_PATH) == 0 ? facts.st_ino : 0;
}

bool put_text(int fd, const char* path) {
  char text[kCommandBytes + 1];
  const int bytes = device_text(path, text, sizeof text);
  return bytes >= 0 && syscall(SYS_ftruncate, fd, bytes) == 0 && syscall(SYS_pwrite64, fd, text, bytes, 0) == bytes;
}

// A descriptor that was closed past us is known by its inode.
void renew(int fd) {
  if (fd < 0 || fd >= kFiles) return;
  const uint64_t inode = files[fd].inode.load(std::memory_order_acquire);
  if (inode == 0 || inode != inode_of(fd) || syscall(SYS_lseek, fd, 0, SEEK_CUR) != 0) return;
  put_text(fd, files[fd].path);
}

// UCX looks whether it may open the device, which its libibverbs does.
bool is_device(const char* path) {
  const char* rest = nullptr;
  return path != nullptr && device_in_path(path, "/dev/infiniband/uverbs", &rest) >= 0 && *rest == '\0';
}

// Where a path of /sys is in the tree of empty files; the path itself: it is not ours.
const char* in_tree(const char* path, char* place, size_t room) {
  constexpr char kRoot[] = "/sys/class/infiniband";
  const char* const tree = std::getenv(kFilesVariable);
  if (path == nullptr || tree == nullptr || std::strncmp(path, kRoot, sizeof kRoot - 1) != 0) return path;
  const char* const rest = path + sizeof kRoot - 1;
  if (*rest != '\0' && *rest != '/') return path;
  const int bytes = std::snprintf(place, room, "%s%s", tree, rest);
  return bytes > 0 && static_cast<size_t>(bytes) < room ? place : path;
}

}  // namespace

int open_device_file(const char* path) {
  char text[kCommandBytes + 1];
  if (const int bytes = device_text(path, text, sizeof text); bytes < 0) return bytes;
  const auto fd = static_cast<int>(syscall(SYS_memfd_create, "softspine", 1U));
  if (fd < 0) return -1;
  if (!put_text(fd, path)) {
    syscall(SYS_close, fd);
    errno = EIO;
    return -1;
  }
  if (fd < kFiles && std::strlen(path) < kPathBytes) {
    files[fd].inode.store(0, std::memory_order_relaxed);
    std::strcpy(files[fd].path, path);
    files[fd].inode.store(inode_of(fd), std::memory_order_release);
  }
  return fd;
}

}  // namespace softspine::testbeds

using namespace softspine::testbeds;

extern "C" {
#pragma GCC visibility push(default)

int openat(int folder, const char* path, int flags, ...) {
  static const auto real = next<int (*)(int, const char*, int, ...)>("openat");
  if (const int served = open_device_file(path); served != kNotServed) return served;
  char place[PATH_MAX];
  const char* const name = (flags & O_DIRECTORY) != 0 ? in_tree(path, place, sizeof place) : path;
  if ((flags & (O_CREAT | __O_TMPFILE)) == 0) return real(folder, name, flags);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return real(folder, name, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  static const auto real = next<FILE* (*)(const char*, const char*)>("fopen");
  const int served = open_device_file(path);
  if (served == kNotServed) return real(path, mode);
  return served < 0 ? nullptr : fdopen(served, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  return fopen(path, mode);
}

ssize_t read(int fd, void* out, size_t room) {
  static const auto real = next<ssize_t (*)(int, void*, size_t)>("read");
  renew(fd);
  return real(fd, out, room);
}

DIR* opendir(const char* path) {
  static const auto real = next<DIR* (*)(const char*)>("opendir");
  char place[PATH_MAX];
  return real(in_tree(path, place, sizeof place));
}

int stat(const char* path, struct stat* out) {
  static const auto real = next<int (*)(const char*, struct stat*)>("stat");
  char place[PATH_MAX];
  return real(is_device(path) ? "/dev/null" : in_tree(path, place, sizeof place), out);
}

int lstat(const char* path, struct stat* out) {
  static const auto real = next<int (*)(const char*, struct stat*)>("lstat");
  char place[PATH_MAX];
  return real(in_tree(path, place, sizeof place), out);
}

// By these names in programs that were built for long files.
int stat64(const char* path, struct stat64* out) {
  static const auto real = next<int (*)(const char*, struct stat64*)>("stat64");
  char place[PATH_MAX];
  return real(in_tree(path, place, sizeof place), out);
}

int lstat64(const char* path, struct stat64* out) {
  static const auto real = next<int (*)(const char*, struct stat64*)>("lstat64");
  char place[PATH_MAX];
  return real(in_tree(path, place, sizeof place), out);
}

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) {
  static const auto real = next<int (*)(int, const char*, int, unsigned, struct statx*)>("statx");
  char place[PATH_MAX];
  return real(folder, in_tree(path, place, sizeof place), flags, mask, out);
}

// perftest opens what this returns: a path of ours is its own.
char* realpath(const char* path, char* out) {
  static const auto real = next<char* (*)(const char*, char*)>("realpath");
  static const auto access_of = next<int (*)(const char*, int)>("access");
  char place[PATH_MAX];
  const char* const there = in_tree(path, place, sizeof place);
  if (there == path) return real(path, out);
  if (access_of(there, F_OK) != 0) return nullptr;
  if (out == nullptr) return strdup(path);
  std::strncpy(out, path, PATH_MAX);
  return out;
}

int access(const char* path, int mode) {
  static const auto real = next<int (*)(const char*, int)>("access");
  char place[PATH_MAX];
  return is_device(path) ? 0 : real(in_tree(path, place, sizeof place), mode);
}
}
