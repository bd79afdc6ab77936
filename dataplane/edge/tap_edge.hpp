// SPDX-License-Identifier: Apache-2.0
// An edge whose outside is the kernel, through a TAP: what the kernel sends there enters the fabric, what the fabric
// sends there is received by the kernel. The TAP is of the network namespace that the opening thread is in, and
// stays there; it ends with its edge (unless it was made persistent by whoever made it), also if we are killed.
//
//   outside → fabric   poll(now): up to 32 frames, start = max(now, port free), one behind the other at the link's
//                      rate. While port free − now > horizon the TAP is not read; its queue (txqueuelen) then fills,
//                      and the kernel drops: a TAP can't be paused without loss.
//   fabric → outside   run(until): the kernel takes a frame at once or not at all. Not at all: edge_full, or link_down
//                      while the interface is down.
//
// Not DPDK's net_tap: that refuses an MTU above 1504 (22.11), and asks for a signal per frame.
// Checksums: we ask the kernel for no offload, so it completes every checksum and cuts every frame to the MTU.
// Frames shorter than Ethernet's minimum are padded, elided payload is put back (no_buffer if there is no packet
// for it). Wall clock only.
#pragma once

#include <array>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/pool.hpp"

namespace softspine::dataplane {

struct TapConfig {
  std::string interface;  // up to 15 bytes; made, or taken if it exists and nobody reads it
  uint16_t mtu = 1500;
  std::optional<std::array<uint8_t, 6>> address;  // of the kernel's side
  bool up = true;
};

class TapEdge final : public Node {
 public:
  // Needs CAP_NET_ADMIN unless the TAP exists and is ours. `pool` has room for whole frames and outlives the edge.
  static std::expected<std::unique_ptr<TapEdge>, EdgeError> open(std::string name, const TapConfig& config,
                                                                 PacketPool& pool);

  bool poll(Instant now) noexcept override;
  bool wants_poll() const override { return true; }
  Instant run(Instant until) noexcept override;

  const EdgeCounters& counters() const { return counters_; }

 private:
  static constexpr Duration kHorizon = Duration::us(50);  // emulated time by which the link may be behind

  TapEdge(std::string name, OwnedFd fd, PacketPool& pool) : Node(std::move(name), 1), fd_(std::move(fd)), pool_(pool) {}
  bool take_one(Instant& start) noexcept;
  void hand_out(Packet packet) noexcept;
  Packet make_whole(Packet packet) noexcept;
  bool write_whole(const Packet& packet) noexcept;

  OwnedFd fd_;
  PacketPool& pool_;
  Instant free_at_;
  EdgeCounters counters_;
};

}  // namespace softspine::dataplane
