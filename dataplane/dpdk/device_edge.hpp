// SPDX-License-Identifier: Apache-2.0
// An edge over any DPDK device: vhost-user, TAP, AF_PACKET, memif, a physical NIC.
//
//   outside → fabric   poll(now): up to 4 × 32 frames into the NIC (edge/nic.hpp), where they wait for pauses and
//                      for its rate. While the NIC's link is behind, the device is not polled: an unpolled vhost
//                      ring pushes back into the guest without loss. A plain NIC's frames go straight onto the
//                      link, start = max(now, port free), one behind the other.
//   fabric → outside   run(until): whole bursts to the device. Frames that it does not take are held, in order, up to
//                      `hold_bytes`, and offered again at each poll; further frames end as edge_full. Packets that a
//                      PCI device's DMA does not reach are copied to its own pool.
//                      While the device is down (no peer) all frames end as link_down, held ones too:
//                      a guest that comes back must not get frames meant for its predecessor.
//                      A frame that was first in line for `hold_time` ends as edge_full: a frame that the guest can
//                      never take (longer than its buffers) would stop the port for ever.
//
// A device that is gone (taken out of the machine, see device.hpp): a fault of the edge; its link goes down and stays
// so.
//
// Carrier: a kernel's interface is set down and up again, so that the other end of its veth or cable loses carrier, as
// behind a port without light. If the interface itself loses carrier, the link goes down. A guest learns of the link by
// virtio's link status. Another device's link is set by its driver, if the driver can.
//
// From outside, dropped and counted: shorter than an Ethernet header (truncated), longer than any port
// takes (oversize), in pieces that do not fit into one buffer (oversize). Packets that the device or its driver drops
// itself, and counts, are lost outside.
// To the outside: what is longer than the device takes ends as oversize; frames are padded to 60 bytes, and elided
// payload is put back (no_buffer if there is no packet for it, or for a copy).
// Wall clock only: on the virtual clock nothing is taken in, since a device has no time of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/dpdk/device.hpp"
#include "dataplane/edge/kernel_interface.hpp"
#include "dataplane/edge/nic.hpp"

namespace softspine::dataplane {

class DeviceEdge final : public Nic {
 public:
  using Config = NicConfig;

  // `pool`: the device's own; frames whose elided payload is put back come from it too. `interface`: the kernel's
  // interface that the device uses, if there is one.
  DeviceEdge(std::string name, std::unique_ptr<Device> device, PacketPool& pool, const Config& config,
             std::optional<KernelInterface> interface = std::nullopt);
  ~DeviceEdge() override;

  bool poll(Instant now) noexcept override;
  bool wants_poll() const override { return true; }
  Instant run(Instant until) noexcept override;
  void drain() noexcept override;
  std::map<std::string, uint64_t> statistics() const override { return device_->statistics(); }
  void look_outside(Instant now) noexcept override;
  uint64_t lost_outside() const override { return device_->lost(); }
  bool keeps_packets() const override { return device_->is_lost(); }

  uint64_t waiting_for_outside() const override { return Nic::waiting_for_outside() + held_packets(); }
  uint64_t held_packets() const { return held_tail_ - held_head_; }
  uint64_t held_bytes() const { return held_bytes_; }
  const Device& device() const { return *device_; }
  Device& device() { return *device_; }

 protected:
  std::expected<void, EdgeError> show_carrier(bool carrier) override;

 private:
  struct Outside;  // what Nic::run_with calls
  void lose_device(Instant now) noexcept;
  bool ask(Instant now) noexcept;
  void take_in_all(rte_mbuf** frames, uint32_t count, Instant now) noexcept;
  void send_all(rte_mbuf** frames, uint32_t count, Instant now) noexcept;
  Instant run_plain(Instant until) noexcept;
  rte_mbuf* repair(rte_mbuf* frame) noexcept;
  uint32_t take_from_inbox(Instant until, rte_mbuf** frames) noexcept;
  bool is_reached(const rte_mbuf* frame) const noexcept;
  bool is_ready(rte_mbuf* frame) const noexcept;
  rte_mbuf* make_ready(rte_mbuf* frame) noexcept;
  void hand_out(rte_mbuf** frames, uint32_t count) noexcept;
  uint32_t offer(rte_mbuf** frames, uint32_t count) noexcept;
  void hold(rte_mbuf* frame) noexcept;
  void offer_held(Instant now) noexcept;
  void offer_from_head() noexcept;
  void end_held(DropReason reason) noexcept;
  void end_out(rte_mbuf* frame, DropReason reason) noexcept;

  std::unique_ptr<Device> device_;
  std::optional<KernelInterface> interface_;
  bool took_carrier_ = false;  // the interface is down since we have set it down
  uint16_t port_;
  // A ring of frames that wait for the outside: from head to tail, indices modulo its size (a power of two).
  std::vector<rte_mbuf*> held_;
  uint64_t held_head_ = 0;
  uint64_t held_tail_ = 0;
  uint64_t held_bytes_ = 0;
  uint64_t first_held_ = 0;  // the frame that stood first at the last poll, and since when
  Instant first_since_ = Instant::never();
  uint64_t seen_arrivals_ = 0;  // Device::arrivals() at the last poll
  Burst arrivals_;              // empty between runs; here because clearing a fresh one costs as much as a packet
};

}  // namespace softspine::dataplane
