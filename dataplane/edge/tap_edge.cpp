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

constexpr uint32_t kFramesPerPoll = 64;  // more than a super-frame has with an MTU of 1500
constexpr uint32_t kSuperBytes =
    65'536 + ethernet::kBytes + 2 * ethernet::kTagBytes;  // the kernel's most, and Ethernet
constexpr unsigned long kOffload = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
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
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(fd.get(), TUNSETIFF, &request) != 0) return std::unexpected(call_failed(interface, "TUNSETIFF"));
  int header_bytes = sizeof(VirtioHeader);
  if (ioctl(fd.get(), TUNSETVNETHDRSZ, &header_bytes) != 0)
    return std::unexpected(call_failed(interface, "TUNSETVNETHDRSZ"));
  if (ioctl(fd.get(), TUNSETOFFLOAD, kOffload) != 0) return std::unexpected(call_failed(interface, "TUNSETOFFLOAD"));
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
  return std::unique_ptr<TapEdge>{
      new TapEdge{std::move(name), nic, std::move(*fd), std::move(*interface), pool, config.patience}};
}

TapEdge::TapEdge(std::string name, const NicConfig& nic, OwnedFd fd, KernelInterface interface, PacketPool& pool,
                 const FrameJoiner::Patience& patience)
    : Nic(std::move(name), nic, pool),
      fd_(std::move(fd)),
      interface_(std::move(interface)),
      super_(room() + kSuperBytes),
      joiner_(patience) {
  expect_no_carrier_yet();
}

bool TapEdge::poll(Instant now) noexcept {
  if (now.is_never()) return false;
  if (is_behind(now)) {
    ++counters_.pauses;
    return true;
  }
  Taken last = Taken::kOne;
  uint32_t taken = 0;
  for (; taken < kFramesPerPoll && !is_behind(now); ++taken) {
    last = take_one(now);
    if (last != Taken::kOne) break;
  }
  find_next_and_wake(now);
  return taken > 0 || last == Taken::kNoPacket || is_busy(now);
}

TapEdge::Taken TapEdge::take_one(Instant now) noexcept {
  return cutter_.has_more() ? cut_one(now) : read_one(now);
}

// What is longer than a packet's room is read into super_, behind the place for what the packet has of it.
TapEdge::Taken TapEdge::read_one(Instant now) noexcept {
  Packet packet = pool_.make(room());
  if (!packet) return Taken::kNoPacket;
  VirtioHeader kernel{};
  const iovec parts[] = {
      {&kernel, sizeof kernel}, {packet.data(), room()}, {super_.data() + room(), super_.size() - room()}};
  const ssize_t got = readv(fd_.get(), parts, 3);
  if (got <= 0) {
    PacketPool::release(std::move(packet));
    return Taken::kNone;
  }
  const auto bytes = static_cast<uint32_t>(std::max<ssize_t>(got - static_cast<ssize_t>(sizeof kernel), 0));
  if (bytes < ethernet::kBytes) {
    PacketPool::release(std::move(packet));
    end_in(DropReason::kTruncated);
  } else if (kernel.segments != VirtioHeader::kWhole) {
    take_super(std::move(packet), bytes, kernel);
  } else {
    take_whole(std::move(packet), bytes, kernel, now);
  }
  return Taken::kOne;
}

void TapEdge::take_whole(Packet packet, uint32_t bytes, const VirtioHeader& kernel, Instant now) noexcept {
  if (bytes > room()) {
    PacketPool::release(std::move(packet));
    return end_in(DropReason::kOversize);
  }
  packet.cut_to(bytes);
  if ((kernel.flags & VirtioHeader::kNeedsChecksum) != 0 &&
      !complete_checksum(packet.data(), bytes, kernel.checksum_start, kernel.checksum_offset)) {
    PacketPool::release(std::move(packet));
    return end_in(DropReason::kTruncated);
  }
  take_in(std::move(packet), now);
}

void TapEdge::take_super(Packet packet, uint32_t bytes, const VirtioHeader& kernel) noexcept {
  std::memcpy(super_.data(), packet.data(), std::min(bytes, room()));
  PacketPool::release(std::move(packet));
  if (!cutter_.begin(kernel, super_.data(), bytes)) return end_in(DropReason::kTruncated);
  if (cutter_.most_bytes() <= room()) return;
  cutter_.give_up();
  end_in(DropReason::kOversize);
}

TapEdge::Taken TapEdge::cut_one(Instant now) noexcept {
  Packet packet = pool_.make(cutter_.next_bytes());
  if (!packet) return Taken::kNoPacket;
  cutter_.cut(packet.data());
  take_in(std::move(packet), now);
  return Taken::kOne;
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

struct TapEdge::Outside {
  TapEdge& edge;
  Instant next() const { return edge.joiner_.due(); }
  void enter(Instant now) noexcept {
    edge.joiner_.close_due(now);
    edge.hand_out_closed();
  }
  void give(Packet packet, Instant now) noexcept { edge.give(std::move(packet), now); }
};

Instant TapEdge::run(Instant until) noexcept {
  return run_with(until, Outside{*this});
}

void TapEdge::give(Packet packet, Instant now) noexcept {
  const bool is_held = joiner_.take(packet, now);
  hand_out_closed();
  if (!is_held) hand_out(std::move(packet));
}

void TapEdge::finish(Instant) noexcept {
  joiner_.close_all();
  hand_out_closed();
}

void TapEdge::drain() noexcept {
  joiner_.close_all();
  hand_out_closed();
  end_waiting();
}

void TapEdge::hand_out_closed() noexcept {
  while (FrameRun* const run = joiner_.next_closed()) hand_out(*run);
}

void TapEdge::hand_out(FrameRun& run) noexcept {
  FrameRun::ForKernel kernel;
  run.write(kernel);
  count_out(writev(fd_.get(), kernel.parts.data(), kernel.count) >= 0, run.frames(), run.bytes());
  for (uint32_t i = 0; i < run.frames(); ++i) PacketPool::release(run.take_frame(i));
  joiner_.reuse(run);
}

void TapEdge::hand_out(Packet packet) noexcept {
  if (packet.elided_bytes() != 0) {
    packet = make_whole(std::move(packet));
    if (!packet) return;
  }
  count_out(write_whole(packet), 1, packet.frame_bytes());
  PacketPool::release(std::move(packet));
}

// Behind the call, which leaves in errno why it was not taken.
void TapEdge::count_out(bool was_taken, uint64_t packets, uint64_t bytes) noexcept {
  if (was_taken) {
    counters_.out_packets += packets;
    counters_.out_bytes += bytes;
    return;
  }
  const bool nobody = errno == EIO || errno == EBADFD;  // down, deleted
  counters_.out_drops[static_cast<size_t>(nobody ? DropReason::kLinkDown : DropReason::kEdgeFull)] += packets;
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
  VirtioHeader nothing{};
  const iovec parts[] = {
      {&nothing, sizeof nothing}, {packet.data(), bytes}, {const_cast<char*>(kPadding.data()), missing}};
  return writev(fd_.get(), parts, 3) >= 0;
}

}  // namespace softspine::dataplane
