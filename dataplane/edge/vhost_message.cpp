// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/vhost_message.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace softspine::dataplane {

namespace {
constexpr uint32_t kSetVringCall = 13;
constexpr size_t kControlBytes = CMSG_SPACE(VhostMessage::kMaxFds * sizeof(int));
}  // namespace

VhostMessage::Header VhostMessage::header() const noexcept {
  Header header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  return header;
}

uint64_t VhostMessage::number() const noexcept {
  uint64_t number = 0;
  if (payload().size() == sizeof number) std::memcpy(&number, payload().data(), sizeof number);
  return number;
}

void VhostMessage::set_number(uint64_t number) noexcept {
  if (payload().size() == sizeof number) std::memcpy(bytes_.data() + sizeof(Header), &number, sizeof number);
}

VhostMessage VhostMessage::made(uint32_t request, uint32_t flags, std::span<const uint8_t> payload) noexcept {
  VhostMessage message;
  const Header header{request, flags, static_cast<uint32_t>(payload.size())};
  std::memcpy(message.bytes_.data(), &header, sizeof header);
  std::ranges::copy(payload, message.bytes_.begin() + sizeof header);
  message.have_ = static_cast<uint32_t>(sizeof header + payload.size());
  message.whole_ = true;
  return message;
}

// Bytes still missing, of the header first.
uint32_t VhostMessage::wanted() const noexcept {
  return have_ < sizeof(Header) ? static_cast<uint32_t>(sizeof(Header)) - have_
                                : static_cast<uint32_t>(sizeof(Header)) + header().size - have_;
}

VhostMessage::Step VhostMessage::gather(int from) noexcept {
  while (wanted() > 0) {
    iovec part{bytes_.data() + have_, wanted()};
    alignas(cmsghdr) std::array<char, kControlBytes> control;
    msghdr message{.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.data(), .msg_controllen = control.size()};
    const ssize_t got = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return errno == EAGAIN || errno == EINTR ? Step::kWaits : Step::kClosed;
    const bool in_order = keep_fds(&message);
    lost_fds_ = (message.msg_flags & MSG_CTRUNC) != 0 && fd_count_ < kMaxFds;
    if (got == 0) return have_ == 0 ? Step::kClosed : Step::kOffends;
    if (!in_order || (message.msg_flags & MSG_CTRUNC) != 0) return Step::kOffends;
    have_ += static_cast<uint32_t>(got);
    if (have_ == sizeof(Header) && header().size > kMaxPayload) return Step::kOffends;
  }
  unblock_call();
  whole_ = true;
  return Step::kWhole;
}

// All that came are kept, so that all are closed; false if they are more than a message has.
bool VhostMessage::keep_fds(const void* message_header) noexcept {
  auto* message = const_cast<msghdr*>(static_cast<const msghdr*>(message_header));
  bool fit = true;
  for (cmsghdr* control = CMSG_FIRSTHDR(message); control != nullptr; control = CMSG_NXTHDR(message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof fd, sizeof fd);
      OwnedFd owned{fd};
      if (fd_count_ == kMaxFds) {
        fit = false;
      } else {
        fds_[fd_count_++] = std::move(owned);
      }
    }
  }
  return fit;
}

void VhostMessage::unblock_call() noexcept {
  if (header().request != kSetVringCall) return;
  for (uint32_t i = 0; i < fd_count_; ++i) {
    const int fd = fds_[i].get();
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
}

VhostMessage::Step VhostMessage::send(int to) noexcept {
  iovec part{bytes_.data(), have_};
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  msghdr message{.msg_iov = &part, .msg_iovlen = 1};
  if (fd_count_ > 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fd_count_ * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fd_count_ * sizeof(int));
    for (uint32_t i = 0; i < fd_count_; ++i) {
      const int fd = fds_[i].get();
      std::memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
    }
  }
  const ssize_t sent = sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return Step::kWaits;
  if (sent != static_cast<ssize_t>(have_)) return Step::kClosed;  // a stream socket takes so few bytes whole or not
  *this = VhostMessage{};
  return Step::kSent;
}

}  // namespace softspine::dataplane
