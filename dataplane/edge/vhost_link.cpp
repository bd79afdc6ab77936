// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/vhost_link.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace softspine::dataplane {

namespace {

// Requests and flags of the vhost-user protocol.
constexpr uint32_t kGetFeatures = 1;
constexpr uint32_t kSetFeatures = 2;
constexpr uint32_t kGetProtocolFeatures = 15;
constexpr uint32_t kSetProtocolFeatures = 16;
constexpr uint32_t kSetSlaveReqFd = 21;
constexpr uint32_t kGetConfig = 24;
constexpr uint32_t kSetConfig = 25;
constexpr uint32_t kConfigChange = 2;  // of the requests that go the other way
constexpr uint32_t kVersion = 1;
constexpr uint32_t kReply = kVersion | 4;
constexpr uint32_t kNeedsReply = 8;

constexpr uint64_t kFeatures = uint64_t{1} << 16 /* STATUS */ | uint64_t{1} << 63 /* SPEED_DUPLEX */;
constexpr uint64_t kProtocol = uint64_t{1} << 5 /* SLAVE_REQ */ | uint64_t{1} << 9 /* CONFIG */;

struct ConfigHead {
  uint32_t offset;
  uint32_t size;
  uint32_t flags;
};

// virtio_net_config; little-endian, as is every machine that this runs on.
constexpr uint32_t kSpaceBytes = 256;
constexpr size_t kStatus = 6;
constexpr size_t kSpeed = 12;
constexpr size_t kDuplex = 16;

std::array<uint8_t, kSpaceBytes> space_of(const VhostLink::State& state) {
  std::array<uint8_t, kSpaceBytes> space{};
  space[kStatus] = state.up ? 1 : 0;
  std::memcpy(&space[kSpeed], &state.speed_mbps, sizeof state.speed_mbps);
  space[kDuplex] = 1;  // full
  return space;
}

}  // namespace

void VhostLink::amend(VhostMessage& answer) noexcept {
  if (answer.header().request == kGetFeatures) answer.set_number(answer.number() | kFeatures);
  if (answer.header().request == kGetProtocolFeatures) answer.set_number(answer.number() | kProtocol);
}

bool VhostLink::take(VhostMessage& request, const State& state, VhostMessage& answer) noexcept {
  const VhostMessage::Header header = request.header();
  switch (header.request) {
    case kSetFeatures: request.set_number(request.number() & ~kFeatures); return false;
    case kSetProtocolFeatures: request.set_number(request.number() & ~kProtocol); return false;
    case kGetConfig: answer = configuration(request, state); break;
    case kSetSlaveReqFd: notices_ = request.take_first_fd(); [[fallthrough]];
    case kSetConfig:
      if ((header.flags & kNeedsReply) != 0) {
        answer = VhostMessage::made(header.request, kReply, std::array<uint8_t, sizeof(uint64_t)>{});
      }
      break;
    default: return false;
  }
  request = VhostMessage{};
  return true;
}

// In the protocol, an answer without a payload rejects the request.
VhostMessage VhostLink::configuration(const VhostMessage& request, const State& state) noexcept {
  ConfigHead head{};
  const auto asked = request.payload();
  if (asked.size() >= sizeof head) std::memcpy(&head, asked.data(), sizeof head);
  if (head.size == 0 || head.size > kSpaceBytes || head.offset > kSpaceBytes - head.size) {
    return VhostMessage::made(kGetConfig, kReply, {});
  }
  head.flags = 0;
  std::array<uint8_t, sizeof head + kSpaceBytes> payload;
  std::memcpy(payload.data(), &head, sizeof head);
  std::memcpy(payload.data() + sizeof head, space_of(state).data() + head.offset, head.size);
  return VhostMessage::made(kGetConfig, kReply, std::span{payload}.first(sizeof head + head.size));
}

// The descriptor is the guest's, and may be anything: what is no socket, or is closed, gets no notices.
void VhostLink::notify() noexcept {
  const VhostMessage::Header notice{kConfigChange, kVersion, 0};
  const ssize_t sent = send(notices_.get(), &notice, sizeof notice, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  owes_notice_ = false;
  if (sent != static_cast<ssize_t>(sizeof notice)) notices_ = OwnedFd{};
}

}  // namespace softspine::dataplane
