// SPDX-License-Identifier: Apache-2.0
// A switch's counters of one port: plain integers, written by the worker that owns the node and read
// by control between windows (Engine::at, Engine::post). No DPDK, no atomics.
//
// Each event is counted once, at the place named here; every sum is a function:
//   rx_*        at arrival (arrived()), every frame, MAC control included; bytes are frame bytes without FCS
//   tx_*        at departure (departed()), when the last bit has left, PFC frames included; until then the frame is
//               queued
//   queue.*     packets and bytes when they have left the queue by the wire; drops at the queue's tail, and by
//               the PFC watchdog where the packet waited
//   drops       every packet that ended in the switch, at the port it came in by, whatever stage ended it. A
//               packet dropped for a queue (is_of_queue()) is counted twice, from two sides: in drops of the port
//               it came in by, and in queue.dropped_packets of the port it was bound for
// rx_packets + made_packets = tx_packets + drops + queued packets, over all ports. made_packets are frames that the
// switch made itself (answers, flood copies, PFC), counted at the port they leave by.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

// One cache line has all that every packet of a queue touches. A counter of rarer events belongs after watermark_bytes:
// the struct is then two lines long, and packets still touch only the first.
struct alignas(64) QueueCounters {
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t dropped_packets = 0;
  uint64_t dropped_bytes = 0;
  uint64_t ecn_marked_packets = 0;
  uint64_t current_packets = 0;
  uint64_t current_bytes = 0;
  uint64_t watermark_bytes = 0;  // highest current_bytes since the start or the last clearing

  void entered(uint32_t frame_bytes) {
    ++current_packets;
    current_bytes += frame_bytes;
    if (current_bytes > watermark_bytes) watermark_bytes = current_bytes;
  }
  void left(uint32_t frame_bytes) {
    --current_packets;
    current_bytes -= frame_bytes;
    ++packets;
    bytes += frame_bytes;
  }
  // One has left, and another of as many bytes has entered.
  void passed_on(uint32_t frame_bytes) {
    ++packets;
    bytes += frame_bytes;
  }
  void refused(uint32_t frame_bytes) {
    ++dropped_packets;
    dropped_bytes += frame_bytes;
  }
  friend bool operator==(const QueueCounters&, const QueueCounters&) = default;
};
static_assert(offsetof(QueueCounters, watermark_bytes) + sizeof(uint64_t) <= 64);

// Frames that one (port, priority) has passed on and dropped: its queues sent (tx), its priority groups took (rx).
struct WatchdogTraffic {
  uint64_t tx_packets = 0;
  uint64_t tx_drops = 0;
  uint64_t rx_packets = 0;
  uint64_t rx_drops = 0;

  friend WatchdogTraffic operator+(const WatchdogTraffic& a, const WatchdogTraffic& b) {
    return {a.tx_packets + b.tx_packets, a.tx_drops + b.tx_drops, a.rx_packets + b.rx_packets, a.rx_drops + b.rx_drops};
  }
  friend WatchdogTraffic operator-(const WatchdogTraffic& a, const WatchdogTraffic& b) {
    return {a.tx_packets - b.tx_packets, a.tx_drops - b.tx_drops, a.rx_packets - b.rx_packets, a.rx_drops - b.rx_drops};
  }
  friend bool operator==(const WatchdogTraffic&, const WatchdogTraffic&) = default;
};

struct alignas(64) PortCounters {
  uint64_t rx_packets = 0;
  uint64_t rx_bytes = 0;
  uint64_t rx_multicast_packets = 0;
  uint64_t rx_broadcast_packets = 0;
  uint64_t tx_packets = 0;
  uint64_t tx_bytes = 0;
  uint64_t tx_multicast_packets = 0;
  uint64_t tx_broadcast_packets = 0;

  uint64_t made_packets = 0;
  uint64_t ended_flow_packets = 0;   // of drops: payload of built-in flows
  uint64_t copied_flow_packets = 0;  // of made: flooded copies of those packets
  DropCounters drops{};
  uint64_t pause_tx_frames = 0;  // pause frames of our own, each counted once; by priority: PortFlowControl
  std::array<QueueCounters, kQueues> queues{};

  // A frame has come in; a frame's last bit has left. The second function follows for frames to several stations.
  void arrived(uint32_t frame_bytes) {
    ++rx_packets;
    rx_bytes += frame_bytes;
  }
  void arrived_for_several(bool is_broadcast) { ++(is_broadcast ? rx_broadcast_packets : rx_multicast_packets); }
  void departed(uint32_t frame_bytes) {
    ++tx_packets;
    tx_bytes += frame_bytes;
  }
  void departed_to_several(bool is_broadcast) { ++(is_broadcast ? tx_broadcast_packets : tx_multicast_packets); }

  uint64_t rx_unicast_packets() const { return rx_packets - rx_multicast_packets - rx_broadcast_packets; }
  uint64_t tx_unicast_packets() const { return tx_packets - tx_multicast_packets - tx_broadcast_packets; }
  uint64_t dropped_packets() const { return std::accumulate(drops.begin(), drops.end(), uint64_t{0}); }
  uint64_t queue_dropped_packets() const { return sum_of(&QueueCounters::dropped_packets); }
  uint64_t queued_packets() const { return sum_of(&QueueCounters::current_packets); }
  uint64_t queued_bytes() const { return sum_of(&QueueCounters::current_bytes); }
  friend bool operator==(const PortCounters&, const PortCounters&) = default;

 private:
  uint64_t sum_of(uint64_t QueueCounters::* field) const {
    uint64_t sum = 0;
    for (const QueueCounters& queue : queues) sum += queue.*field;
    return sum;
  }
};

}  // namespace softspine::dataplane
