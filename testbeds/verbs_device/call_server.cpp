// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/call_server.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace softspine::testbeds {

using dataplane::EdgeError;
using dataplane::OwnedFd;

namespace {

// The listener and the sockets are told apart from processes by the sign.
bool watch(const OwnedFd& events, int fd, int word) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = word}};
  return epoll_ctl(events.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

bool send_reply(int socket, const CallResult& result) {
  iovec part{const_cast<DeviceReply*>(&result.reply), sizeof result.reply};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const auto count = static_cast<size_t>((result.fds[0] >= 0 ? 1 : 0) + (result.fds[1] >= 0 ? 1 : 0));
  if (result.reply.error == 0 && count != 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(head), result.fds.data(), count * sizeof(int));
  }
  return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof result.reply);
}

}  // namespace

CallServer::~CallServer() {
  if (!path_.empty()) unlink(path_.c_str());
}

std::expected<void, EdgeError> CallServer::listen(const std::string& path) {
  const auto failed = [&path](const char* call) {
    return std::unexpected(EdgeError{path, std::string(call) + ": " + std::strerror(errno)});
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return std::unexpected(EdgeError{path, "is too long for a socket's name: choose a shorter run folder"});
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  unlink(path.c_str());
  listener_ = OwnedFd{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  events_ = OwnedFd{epoll_create1(EPOLL_CLOEXEC)};
  nudges_ = OwnedFd{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!listener_ || !events_ || !nudges_) return failed("socket");
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return failed("bind");
  path_ = path;
  if (chmod(path.c_str(), 0600) != 0 || ::listen(listener_.get(), 64) != 0) return failed("listen");
  if (!watch(events_, listener_.get(), listener_.get()) || !watch(events_, nudges_.get(), nudges_.get()))
    return failed("epoll_ctl");
  return {};
}

bool CallServer::poll() noexcept {
  std::array<epoll_event, 16> ready;
  const int count = epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  bool has_callers = false;
  for (int i = 0; i < count; ++i) {
    const int word = ready[static_cast<size_t>(i)].data.fd;
    if (word == listener_.get()) {
      has_callers = true;
    } else if (word == nudges_.get()) {
      eventfd_t nudges = 0;
      eventfd_read(word, &nudges);
    } else if (word < 0) {
      drop(-word);
    } else {
      serve(word);
    }
  }
  // Last: a new socket may have the number of one that has just gone, of which an event may be behind.
  if (has_callers) accept_all();
  return count > 0;
}

void CallServer::nudge() noexcept {
  eventfd_write(nudges_.get(), 1);
}

void CallServer::accept_all() noexcept {
  for (;;) {
    OwnedFd socket{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!socket) return;
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) continue;
    OwnedFd process{static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0))};
    if (!process) continue;
    const auto client = handler_.add_client(peer.pid);
    if (!client) continue;
    const int fd = socket.get();
    watch(events_, fd, fd);
    watch(events_, process.get(), -fd);
    clients_.emplace(fd, Connection{std::move(socket), std::move(process), *client});
  }
}

void CallServer::serve(int socket) noexcept {
  const auto found = clients_.find(socket);
  if (found != clients_.end() && !answer(socket, found->second.client)) drop(socket);
}

// False: the program has gone, or sends what is no request.
bool CallServer::answer(int socket, uint32_t client) noexcept {
  DeviceRequest request{};
  const ssize_t got = recv(socket, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got != static_cast<ssize_t>(sizeof request)) return false;
  if (request.call == Call::kWake) return true;
  CallResult result;
  handler_.handle(client, request, result);
  const bool is_sent = send_reply(socket, result);
  if (result.sent_memory != nullptr) result.sent_memory->forget_fd();
  if (result.sent_memory_too != nullptr) result.sent_memory_too->forget_fd();
  return is_sent;
}

void CallServer::drop(int socket) noexcept {
  const auto found = clients_.find(socket);
  if (found == clients_.end()) return;
  rnic_.forget_client(found->second.client);
  clients_.erase(found);
}

}  // namespace softspine::testbeds
