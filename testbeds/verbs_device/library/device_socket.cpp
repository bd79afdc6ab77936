// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/library/device_socket.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace softspine::testbeds {

namespace {

// The device copies our memory. Under yama's ptrace_scope 1 it may if we name it, and we name it by its socket.
void let_device_reach_us(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0)
    prctl(PR_SET_PTRACER, static_cast<unsigned long>(peer.pid), 0, 0, 0);
}

void take_fds(msghdr& message, int* fds) {
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(fds, CMSG_DATA(head), (count < 2 ? count : 2) * sizeof(int));
  }
}

// The device's part of the list.
bool put_socket_path(uint32_t device, char* out, size_t room) {
  const char* at = std::getenv(kSocketVariable);
  for (; at != nullptr && device > 0; --device) {
    at = std::strchr(at, ':');
    if (at != nullptr) ++at;
  }
  if (at == nullptr) return false;
  const size_t bytes = std::strcspn(at, ":");
  if (bytes == 0 || bytes >= room) return false;
  std::memcpy(out, at, bytes);
  out[bytes] = '\0';
  return true;
}

int receive_reply(int socket, DeviceReply& reply, int* fds) {
  iovec part{&reply, sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof reply)) return EIO;
  int local[2] = {-1, -1};
  take_fds(message, fds != nullptr ? fds : local);
  return reply.error;
}

}  // namespace

uint32_t count_devices() {
  const char* at = std::getenv(kSocketVariable);
  uint32_t count = 0;
  for (; at != nullptr && *at != '\0' && count < kDeviceLimit; ++count) {
    const char* const end = std::strchr(at, ':');
    at = end == nullptr ? nullptr : end + 1;
  }
  return count;
}

uint32_t own_device() {
  const char* const own = std::getenv(kOwnVariable);
  return own == nullptr ? 0 : static_cast<uint32_t>(std::strtoul(own, nullptr, 10));
}

int device_in_path(const char* path, const char* begin, const char** rest) {
  const size_t bytes = std::strlen(begin);
  if (path == nullptr || std::strncmp(path, begin, bytes) != 0) return -1;
  const char* at = path + bytes;
  uint32_t number = 0;
  for (; *at >= '0' && *at <= '9' && number < kDeviceLimit; ++at)
    number = number * 10 + static_cast<uint32_t>(*at - '0');
  if (at == path + bytes || number >= count_devices()) return -1;
  *rest = at;
  return static_cast<int>(number);
}

int connect_to_socket(uint32_t device) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!put_socket_path(device, address.sun_path, sizeof address.sun_path)) {
    errno = ENODEV;
    return -1;
  }
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  let_device_reach_us(fd);
  return fd;
}

int exchange(int socket, const DeviceRequest& request, DeviceReply& reply, int* fds) {
  ssize_t sent = 0;
  do {
    sent = send(socket, &request, sizeof request, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof request) ? receive_reply(socket, reply, fds) : EIO;
}

void wake_device(int socket) {
  const int error = errno;
  DeviceRequest request{};
  request.call = Call::kWake;
  send(socket, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
  errno = error;
}

}  // namespace softspine::testbeds
