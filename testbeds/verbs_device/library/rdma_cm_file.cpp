// SPDX-License-Identifier: Apache-2.0
// /dev/infiniband/rdma_cm, as rdma-core's librdmacm opens it: there is no such file here, so open, fstat, write and
// close of a program go through us, and what it writes to that file are calls of its device. So librdmacm itself is
// Debian's, with all that it has.
//
//   open    a channel of the device; its descriptor may be polled, and has a word for each event
//   write   a command (<rdma/rdma_user_cm.h>), whose answer goes where the command says
// Loopback addresses of the fabric's hosts, to which their names resolve, become those in the fabric.
// Preloaded beside names.cpp. A descriptor that was closed past us is known by its inode.
// The build's setting would give our functions other names: open64, fstat64.
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "testbeds/verbs_device/library/device_socket.hpp"
#include "testbeds/verbs_device/library/fabric_names.hpp"
#include "testbeds/verbs_device/library/file_calls.hpp"

using namespace softspine::testbeds;

namespace {

constexpr char kPath[] = "/dev/infiniband/rdma_cm";
constexpr int kFiles = 4096;  // descriptors above have no channel

struct Channel {
  std::atomic<uint32_t> handle;  // of the device, plus one; 0: not ours
  std::atomic<uint64_t> inode;
};
Channel channels[kFiles];

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int device = -1;
pid_t owner = 0;  // of the socket: a child has one of its own

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

int open_device() {
  if (device >= 0 && owner == getpid()) return 0;
  const int fd = connect_to_socket(own_device());
  if (fd < 0) return errno;
  DeviceRequest request{};
  request.call = Call::kOpen;
  request.number = kDeviceVersion;
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  const int error = exchange(fd, request, reply, fds);
  // Neither doorbells nor asynchronous events are for us.
  for (const int unused : fds) {
    if (unused >= 0) syscall(SYS_close, unused);
  }
  if (error != 0) {
    syscall(SYS_close, fd);
    return error;
  }
  device = fd;
  owner = getpid();
  return 0;
}

int ask(const DeviceRequest& request, DeviceReply& reply, int* fds = nullptr) {
  pthread_mutex_lock(&mutex);
  int error = open_device();
  if (error == 0) error = exchange(device, request, reply, fds);
  pthread_mutex_unlock(&mutex);
  return error;
}

uint64_t inode_of(int fd) {
  struct stat facts{};
  return syscall(SYS_newfstatat, fd, "", &facts, AT_EMPTY_PATH) == 0 ? facts.st_ino : 0;
}

// The device's handle of a descriptor, plus one; 0: it is not ours.
uint32_t channel_of(int fd) {
  if (fd < 0 || fd >= kFiles) return 0;
  const uint32_t handle = channels[fd].handle.load(std::memory_order_acquire);
  return handle != 0 && channels[fd].inode.load(std::memory_order_relaxed) == inode_of(fd) ? handle : 0;
}

int open_channel() {
  DeviceRequest request{};
  request.call = Call::kCreateChannel;
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  const int error = ask(request, reply, fds);
  if (error == 0 && fds[0] < kFiles) {
    channels[fds[0]].inode.store(inode_of(fds[0]), std::memory_order_relaxed);
    channels[fds[0]].handle.store(reply.handle + 1, std::memory_order_release);
    return fds[0];
  }
  if (fds[0] >= 0) syscall(SYS_close, fds[0]);
  errno = error != 0 ? error : EMFILE;
  return -1;
}

// Where a command says that its answer goes; 0: it has none.
uint64_t answer_place(uint32_t command, const uint8_t* body) {
  uint64_t place = 0;
  switch (command) {
    case RDMA_USER_CM_CMD_CREATE_ID:
      std::memcpy(&place, body + offsetof(rdma_ucm_create_id, response), sizeof place);
      return place;
    case RDMA_USER_CM_CMD_DESTROY_ID:
    case RDMA_USER_CM_CMD_QUERY_ROUTE:
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
    case RDMA_USER_CM_CMD_GET_EVENT:
    case RDMA_USER_CM_CMD_MIGRATE_ID: std::memcpy(&place, body, sizeof place); return place;
    default: return 0;
  }
}

// Into the form that the device has: the number first, addresses of the fabric, an option's value behind.
void translate(uint32_t command, DeviceRequest& request) {
  uint8_t* const body = request.command + sizeof(rdma_ucm_cmd_hdr);
  if (command == RDMA_USER_CM_CMD_BIND_IP) put_fabric_address(body + offsetof(rdma_ucm_bind_ip, addr));
  if (command == RDMA_USER_CM_CMD_RESOLVE_IP) {
    put_fabric_address(body + offsetof(rdma_ucm_resolve_ip, src_addr));
    put_fabric_address(body + offsetof(rdma_ucm_resolve_ip, dst_addr));
  }
  if (command != RDMA_USER_CM_CMD_SET_OPTION) return;
  rdma_ucm_set_option option;
  std::memcpy(&option, body, sizeof option);
  const size_t used = sizeof(rdma_ucm_cmd_hdr) + sizeof option;
  const size_t bytes = option.optlen < kCommandBytes - used ? option.optlen : kCommandBytes - used;
  std::memcpy(request.command + used, reinterpret_cast<const void*>(option.optval), bytes);
  request.command_bytes = static_cast<uint32_t>(used + bytes);
}

// A word of the descriptor, which waits if the program has not said otherwise; an errno.
int wait_for_event(int fd) {
  uint32_t word = 0;
  const ssize_t got = recv(fd, &word, sizeof word, 0);
  return got == static_cast<ssize_t>(sizeof word) ? 0 : got < 0 ? errno : EIO;
}

// Another thread has closed the descriptor meanwhile. A kernel does not end a call for that, and programs count on it:
// rping's thread takes each error for one of its connection, and ends the program with it.
[[noreturn]] void wait_as_in_a_kernel() {
  for (;;) pause();
}

ssize_t command(int fd, uint32_t channel, const void* bytes, size_t count) {
  rdma_ucm_cmd_hdr head;
  if (count < sizeof head || count > kCommandBytes) {
    errno = EINVAL;
    return -1;
  }
  std::memcpy(&head, bytes, sizeof head);
  DeviceRequest request{};
  request.call = Call::kConnectionCommand;
  request.handle = channel - 1;
  request.command_bytes = static_cast<uint32_t>(count);
  std::memcpy(request.command, bytes, count);
  translate(head.cmd, request);
  DeviceReply reply{};
  int error = 0;
  do {
    if (head.cmd == RDMA_USER_CM_CMD_GET_EVENT) error = wait_for_event(fd);
    if (error == 0)
      error = ask(request, reply);
    else
      break;
  } while (error == EAGAIN);
  if (error != 0) {
    const bool is_closed = channels[fd].handle.load(std::memory_order_acquire) != channel;
    if (is_closed && head.cmd == RDMA_USER_CM_CMD_GET_EVENT) wait_as_in_a_kernel();
    errno = error;
    return -1;
  }
  const uint64_t place = answer_place(head.cmd, request.command + sizeof head);
  const size_t room = head.out < reply.response_bytes ? head.out : reply.response_bytes;
  if (place != 0) std::memcpy(reinterpret_cast<void*>(place), reply.response, room);
  return static_cast<ssize_t>(count);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  if (std::strcmp(path, kPath) == 0 && std::getenv(kSocketVariable) != nullptr) return open_channel();
  if (const int served = open_device_file(path); served != kNotServed) return served;
  if ((flags & (O_CREAT | __O_TMPFILE)) == 0) return real(path, flags);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return real(path, flags, mode);
}

// By this name in programs that were built for long files; both are one here.
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}

// librdmacm looks whether the file is a device.
int fstat(int fd, struct stat* out) {
  static const auto real = next<int (*)(int, struct stat*)>("fstat");
  const int done = real(fd, out);
  if (done == 0 && channel_of(fd) != 0) out->st_mode = (out->st_mode & ~static_cast<mode_t>(S_IFMT)) | S_IFCHR;
  return done;
}

ssize_t write(int fd, const void* bytes, size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  const uint32_t channel = channel_of(fd);
  return channel == 0 ? real(fd, bytes, count) : command(fd, channel, bytes, count);
}

int close(int fd) {
  static const auto real = next<int (*)(int)>("close");
  if (const uint32_t channel = channel_of(fd); channel != 0) {
    channels[fd].handle.store(0, std::memory_order_release);
    DeviceRequest request{};
    request.call = Call::kDestroyChannel;
    request.handle = channel - 1;
    DeviceReply reply{};
    ask(request, reply);
  }
  return real(fd);
}
}
