// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/tap_edge.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "dataplane/packet/materialise.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kQueueLength = 4096;  // frames that wait in the kernel while the port is busy; its default is 500

ifreq request_for(const std::string& interface) {
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

std::expected<OwnedFd, EdgeError> attach_to(const std::string& interface) {
  if (interface.empty() || interface.size() >= IFNAMSIZ) {
    return std::unexpected(EdgeError{interface, "an interface's name has 1 to 15 bytes"});
  }
  OwnedFd fd{open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  if (!fd) return std::unexpected(call_failed("/dev/net/tun", "open"));
  ifreq request = request_for(interface);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(fd.get(), TUNSETIFF, &request) != 0) return std::unexpected(call_failed(interface, "TUNSETIFF"));
  if (ioctl(fd.get(), TUNSETOFFLOAD, 0) != 0) return std::unexpected(call_failed(interface, "TUNSETOFFLOAD"));
  return fd;
}

std::expected<void, EdgeError> set_up(const TapConfig& config) {
  const OwnedFd control{socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!control) return std::unexpected(call_failed(config.interface, "socket"));
  ifreq request = request_for(config.interface);
  request.ifr_mtu = config.mtu;
  if (ioctl(control.get(), SIOCSIFMTU, &request) != 0)
    return std::unexpected(call_failed(config.interface, "SIOCSIFMTU"));
  if (config.address) {
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::memcpy(request.ifr_hwaddr.sa_data, config.address->data(), config.address->size());
    if (ioctl(control.get(), SIOCSIFHWADDR, &request) != 0) {
      return std::unexpected(call_failed(config.interface, "SIOCSIFHWADDR"));
    }
  }
  if (!config.up) return {};
  request.ifr_flags = 0;
  if (ioctl(control.get(), SIOCGIFFLAGS, &request) != 0) {
    return std::unexpected(call_failed(config.interface, "SIOCGIFFLAGS"));
  }
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) {
    return std::unexpected(call_failed(config.interface, "SIOCSIFFLAGS"));
  }
  return {};
}

}  // namespace

std::expected<std::unique_ptr<TapEdge>, EdgeError> TapEdge::open(std::string name, const TapConfig& config,
                                                                 PacketPool& pool, const NicConfig& nic) {
  const uint32_t frame = config.mtu + ethernet::kBytes + 4U;
  if (frame > std::min(pool.room_bytes(), kMaxFrameBytes)) {
    return std::unexpected(EdgeError{
        config.interface, "an MTU of " + std::to_string(config.mtu) + " is more than a packet's room allows"});
  }
  auto fd = attach_to(config.interface);
  if (!fd) return std::unexpected(std::move(fd.error()));
  auto interface = KernelInterface::open(config.interface);
  if (!interface) return std::unexpected(std::move(interface.error()));
  if (auto done = interface->set_queue_length(kQueueLength); !done) return std::unexpected(std::move(done.error()));
  if (auto done = set_up(config); !done) return std::unexpected(std::move(done.error()));
  return std::unique_ptr<TapEdge>{new TapEdge{std::move(name), nic, std::move(*fd), std::move(*interface), pool}};
}

bool TapEdge::poll(Instant now) noexcept {
  if (now.is_never()) return false;
  if (is_behind(now)) {
    ++counters_.pauses;
    return true;
  }
  uint32_t taken = 0;
  while (taken < kBurstSize && take_one(now)) ++taken;
  find_next_and_wake(now);
  return taken > 0 || is_busy(now);
}

// False: the kernel has nothing more, or we have no packet for it (it waits there).
bool TapEdge::take_one(Instant now) noexcept {
  const uint32_t room = std::min(pool_.room_bytes(), kMaxFrameBytes);
  Packet packet = pool_.make(room);
  if (!packet) return false;
  // One byte more than fits: a frame that fills it was longer.
  char beyond = 0;
  const iovec parts[] = {{packet.data(), room}, {&beyond, 1}};
  const ssize_t got = readv(fd_.get(), parts, 2);
  if (got < static_cast<ssize_t>(ethernet::kBytes) || got > static_cast<ssize_t>(room)) {
    PacketPool::release(std::move(packet));
    if (got > 0)
      ++counters_.in_drops[static_cast<size_t>(got > static_cast<ssize_t>(room) ? DropReason::kOversize
                                                                                : DropReason::kTruncated)];
    return got > 0;
  }
  packet.cut_to(static_cast<uint32_t>(got));
  take_in(std::move(packet), now);
  return true;
}

// Asked of the TAP itself: who moves it into another network namespace keeps it.
void TapEdge::look_outside(Instant now) noexcept {
  ifreq request{};
  if (ioctl(fd_.get(), TUNGETIFF, &request) != 0 && errno == EBADFD) {
    return lose_outside({interface_.name(), kInterfaceDeleted}, now);
  }
  if (const auto state = interface_.state()) see_carrier(state->up);
}

std::expected<void, EdgeError> TapEdge::show_carrier(bool carrier) {
  int value = carrier ? 1 : 0;
  if (ioctl(fd_.get(), TUNSETCARRIER, &value) != 0)
    return std::unexpected(call_failed(interface_.name(), "TUNSETCARRIER"));
  return {};
}

Instant TapEdge::run(Instant until) noexcept {
  struct Outside {
    TapEdge& edge;
    static constexpr Instant next() { return Instant::never(); }
    static void enter(Instant) {}
    void give(Packet packet, Instant) noexcept { edge.hand_out(std::move(packet)); }
  };
  return run_with(until, Outside{*this});
}

void TapEdge::hand_out(Packet packet) noexcept {
  if (packet.elided_bytes() != 0) {
    packet = make_whole(std::move(packet));
    if (!packet) return;
  }
  if (write_whole(packet)) {
    ++counters_.out_packets;
    counters_.out_bytes += packet.frame_bytes();
  } else {
    const bool nobody = errno == EIO || errno == EBADFD;  // down, deleted
    ++counters_.out_drops[static_cast<size_t>(nobody ? DropReason::kLinkDown : DropReason::kEdgeFull)];
  }
  PacketPool::release(std::move(packet));
}

Packet TapEdge::make_whole(Packet packet) noexcept {
  Packet whole = materialise(packet, pool_);
  PacketPool::release(std::move(packet));
  if (!whole) ++counters_.out_drops[static_cast<size_t>(DropReason::kNoBuffer)];
  return whole;
}

bool TapEdge::write_whole(const Packet& packet) noexcept {
  static constexpr std::array<char, kMinFrameBytes> kPadding{};
  const uint32_t bytes = packet.stored_bytes();
  const size_t missing = bytes < kMinFrameBytes ? kMinFrameBytes - bytes : 0;
  const iovec parts[] = {{packet.data(), bytes}, {const_cast<char*>(kPadding.data()), missing}};
  return writev(fd_.get(), parts, 2) >= 0;
}

}  // namespace softspine::dataplane
