// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "testbeds/verbs_device/library/ours.hpp"

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

int call(OurContext& context, const DeviceRequest& request, DeviceReply& reply, int* fds) {
  pthread_mutex_lock(&context.mutex);
  ssize_t sent = 0;
  do {
    sent = send(context.socket, &request, sizeof request, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  const bool is_sent = sent == static_cast<ssize_t>(sizeof request);
  const int error = is_sent ? receive_reply(context.socket, reply, fds) : EIO;
  if (error == 0) context.port = reply.port;
  pthread_mutex_unlock(&context.mutex);
  return error;
}

bool map_ring(Ring& ring, int fd, uint32_t slots, uint32_t slot_bytes) {
  ring.slots = slots;
  ring.slot_bytes = slot_bytes;
  ring.bytes = queue_bytes(slots, slot_bytes);
  void* const place = mmap(nullptr, ring.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  ring.place = place == MAP_FAILED ? nullptr : static_cast<uint8_t*>(place);
  return ring.place != nullptr;
}

void unmap_ring(Ring& ring) {
  if (ring.place != nullptr) munmap(ring.place, ring.bytes);
  ring.place = nullptr;
}

OurContext* connect_to_device() {
  const char* const path = std::getenv(kSocketVariable);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return refuse(ENODEV);
  std::strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  auto* const context = make<OurContext>();
  if (context == nullptr || connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = context == nullptr ? ENOMEM : errno;
    close(fd);
    std::free(context);
    return refuse(error);
  }
  context->socket = fd;
  pthread_mutex_init(&context->mutex, nullptr);
  let_device_reach_us(fd);
  DeviceRequest request{};
  request.call = Call::kOpen;
  request.number = kDeviceVersion;
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  const int error = call(*context, request, reply, fds);
  void* const bells =
      error != 0 ? MAP_FAILED : mmap(nullptr, sizeof(Doorbells), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
  if (fds[0] >= 0) close(fds[0]);
  if (bells == MAP_FAILED) {
    if (fds[1] >= 0) close(fds[1]);
    close(fd);
    std::free(context);
    return refuse(error != 0 ? error : ENOMEM);
  }
  context->doorbells = static_cast<Doorbells*>(bells);
  context->verbs.context.async_fd = fds[1];
  return context;
}

}  // namespace softspine::testbeds
