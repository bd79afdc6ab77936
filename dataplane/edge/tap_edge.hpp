// SPDX-License-Identifier: Apache-2.0
// An edge whose outside is the kernel, through a TAP: frames that the kernel sends there enter the fabric, and the
// kernel receives those that the fabric sends there. The TAP belongs to the network namespace that the opening thread
// is in, and stays there. The TAP ends with its edge, even if this process is killed, unless its owner has made
// it persistent.
//
//   outside → fabric   poll(now): up to 64 frames into the NIC (edge/nic.hpp), where they wait for pauses and for its
//                      rate. While the NIC's link is behind, the TAP is not read; its queue (txqueuelen) then fills,
//                      and the kernel drops: a TAP can't be paused without loss. lost_outside() is the kernel's count
//                      of these drops; a super-frame is one.
//   fabric → outside   run(until): the kernel takes a frame at once or not at all. Not at all: edge_full, or link_down
//                      while the interface is down. A deleted interface is reported in faults().
//   offload            as a NIC with checksums, TSO and GRO: the kernel hands over super-frames, which are cut into the
//                      frames of the wire (edge/frame_cutter.hpp), and is given segments joined
//                      (edge/frame_joiner.hpp). The fabric sees frames of the MTU, with checksums. The kernel cuts by
//                      itself what is not TCP, or what `ethtool -K TAP tso off` says.
//   carrier            the kernel's side has carrier while the link is up (TUNSETCARRIER). Set down
//                      (`ip link set TAP down`), it is a port without a cable: the link goes down.
//
// Not DPDK's net_tap: that refuses an MTU above 1504 (22.11), and asks for a signal per frame.
// Frames shorter than Ethernet's minimum are padded, elided payload is put back (no_buffer if there is no packet
// for it). Wall clock only.
#pragma once

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/edge/frame_cutter.hpp"
#include "dataplane/edge/frame_joiner.hpp"
#include "dataplane/edge/kernel_interface.hpp"
#include "dataplane/edge/nic.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

struct TapConfig {
  std::string interface;  // up to 15 bytes; made, or taken if it exists and nobody reads it
  uint16_t mtu = 1500;
  std::optional<std::array<uint8_t, 6>> address;  // of the kernel's side
  bool up = true;
  FrameJoiner::Patience patience;  // emulated time: a dilated fabric should divide it by its dilation
};

class TapEdge final : public Nic {
 public:
  // Needs CAP_NET_ADMIN unless the TAP exists and is ours. `pool` has room for whole frames and outlives the edge.
  static std::expected<std::unique_ptr<TapEdge>, EdgeError> open(std::string name, const TapConfig& config,
                                                                 PacketPool& pool, const NicConfig& nic = {});

  bool poll(Instant now) noexcept override;
  bool wants_poll() const override { return true; }
  int poll_descriptor() const override { return fd_.get(); }
  Instant run(Instant until) noexcept override;

  void finish(Instant now) noexcept override;
  void drain() noexcept override;
  uint64_t waiting_for_outside() const override { return Nic::waiting_for_outside() + joiner_.frames(); }
  uint64_t lost_outside() const override { return interface_.dropped(); }
  void look_outside(Instant now) noexcept override;

 protected:
  std::expected<void, EdgeError> show_carrier(bool carrier) override;

 private:
  struct Outside;
  TapEdge(std::string name, const NicConfig& nic, OwnedFd fd, KernelInterface interface, PacketPool& pool,
          const FrameJoiner::Patience& patience);
  // Whether there may be more.
  enum class Taken : uint8_t { kOne, kNone, kNoPacket };
  Taken take_one(Instant now) noexcept;
  Taken read_one(Instant now) noexcept;
  Taken cut_one(Instant now) noexcept;
  void take_whole(Packet packet, uint32_t bytes, const VirtioHeader& kernel, Instant now) noexcept;
  void take_super(Packet packet, uint32_t bytes, const VirtioHeader& kernel) noexcept;
  void end_in(DropReason reason) noexcept { ++counters_.in_drops[static_cast<size_t>(reason)]; }
  uint32_t room() const { return std::min(pool_.room_bytes(), kMaxFrameBytes); }
  void give(Packet packet, Instant now) noexcept;
  void hand_out_closed() noexcept;
  void hand_out(FrameRun& run) noexcept;
  void hand_out(Packet packet) noexcept;
  void count_out(bool was_taken, uint64_t packets, uint64_t bytes) noexcept;
  Packet make_whole(Packet packet) noexcept;
  bool write_whole(const Packet& packet) noexcept;

  OwnedFd fd_;
  KernelInterface interface_;
  std::vector<uint8_t> super_;  // the super-frame that is cut; a packet's room comes first
  FrameCutter cutter_;
  FrameJoiner joiner_;
};

}  // namespace softspine::dataplane
