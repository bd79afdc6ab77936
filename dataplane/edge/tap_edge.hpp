// SPDX-License-Identifier: Apache-2.0
// An edge whose outside is the kernel, through a TAP: frames that the kernel sends there enter the fabric, and the
// kernel receives those that the fabric sends there. The TAP belongs to the network namespace that the opening thread
// is in, and stays there. The TAP ends with its edge, even if this process is killed, unless its owner has made
// it persistent.
//
//   outside → fabric   poll(now): up to 32 frames into the NIC (edge/nic.hpp), where they wait for pauses and for its
//                      rate. While the NIC's link is behind, the TAP is not read; its queue (txqueuelen) then fills,
//                      and the kernel drops: a TAP can't be paused without loss. lost_outside() is the kernel's count
//                      of these drops.
//   fabric → outside   run(until): the kernel takes a frame at once or not at all. Not at all: edge_full, or link_down
//                      while the interface is down. A deleted interface is reported in faults().
//   carrier            the kernel's side has carrier while the link is up (TUNSETCARRIER). Set down
//                      (`ip link set TAP down`), it is a port without a cable: the link goes down.
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

#include "dataplane/edge/kernel_interface.hpp"
#include "dataplane/edge/nic.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::dataplane {

struct TapConfig {
  std::string interface;  // up to 15 bytes; made, or taken if it exists and nobody reads it
  uint16_t mtu = 1500;
  std::optional<std::array<uint8_t, 6>> address;  // of the kernel's side
  bool up = true;
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

  void drain() noexcept override { end_waiting(); }
  uint64_t lost_outside() const override { return interface_.dropped(); }
  void look_outside(Instant now) noexcept override;

 protected:
  std::expected<void, EdgeError> show_carrier(bool carrier) override;

 private:
  TapEdge(std::string name, const NicConfig& nic, OwnedFd fd, KernelInterface interface, PacketPool& pool)
      : Nic(std::move(name), nic, pool), fd_(std::move(fd)), interface_(std::move(interface)) {
    expect_no_carrier_yet();
  }
  bool take_one(Instant now) noexcept;
  void hand_out(Packet packet) noexcept;
  Packet make_whole(Packet packet) noexcept;
  bool write_whole(const Packet& packet) noexcept;

  OwnedFd fd_;
  KernelInterface interface_;
};

}  // namespace softspine::dataplane
