// SPDX-License-Identifier: Apache-2.0
// The egress side of a node: eight queues a port, one frame at a time on each wire.
//
// A frame is charged to its queue from admission until its last bit has left. When a port's frame has
// left, the next one starts at that very instant (not when the poll came round), so a late poll shifts
// no rate:   start = max(ready, port free).
// Order among the queues of a port: the highest queue first (strict).
//
// Departures are events in the order of (instant, port); the caller interleaves them with arrivals:
// `depart_through(t)` before an arrival at t, `depart_before(until)` at the end of a window.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "dataplane/buffer/tail_drop.hpp"
#include "dataplane/egress/counters.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class Egress {
 public:
  // The node's transmitters and counters outlive this; both have one entry a port.
  Egress(Node& node, std::vector<PortCounters>& counters) : ports_(node.ports()) {
    busy_.reserve(node.ports());
    for (uint16_t i = 0; i < ports_.size(); ++i) {
      ports_[i].wire = &node.transmitter(PortNo{i});
      ports_[i].counters = &counters[i];
    }
  }

  // Admits the packet to (out_port, queue) of its meta at `now`, or says why not: then it is still
  // the caller's. `limit_bytes` is the queue's.
  [[gnu::always_inline]] DropReason enqueue(Packet& packet, Instant now, uint32_t limit_bytes) noexcept {
    const PacketMeta& meta = packet.meta();
    const uint16_t number = meta.out_port;
    const uint32_t bytes = meta.frame_bytes;
    const uint8_t q = meta.queue;
    Port& port = ports_[number];
    QueueCounters& queue = port.counters->queues[q];
    if (!port.wire->up()) [[unlikely]]
      return DropReason::kLinkDown;
    if (!TailDrop::admits(queue.current_bytes, bytes, limit_bytes)) [[unlikely]] {
      queue.refused(bytes);
      return DropReason::kQueueFull;
    }
    queue.entered(bytes);
    packet.meta().cast = cast_of(packet.data());
    if (port.busy) {
      port.waiting |= static_cast<uint8_t>(1U << q);
      port.queues[q].push(std::move(packet));
    } else {
      port.busy = true;
      busy_.push(start(port, q, std::move(packet), now), number);
    }
    return DropReason::kCount;
  }

  void depart_through(Instant at) noexcept {
    while (busy_.next() <= at) finish_first();
  }
  void depart_before(Instant until) noexcept {
    while (busy_.next() < until) finish_first();
  }
  Instant next() const { return busy_.next(); }

  // Ends all that waits at a port whose link went down.
  template <typename End>
  void flush(PortNo port, End&& end) noexcept {
    Port& p = ports_[port.value()];
    for (uint32_t q = 0; q < kQueues; ++q) {
      while (!p.queues[q].empty()) {
        Packet packet = p.queues[q].pop();
        forget(p, q, packet.frame_bytes());
        end(std::move(packet));
      }
    }
    p.waiting = 0;
  }

 private:
  struct alignas(64) Port {
    Transmitter* wire = nullptr;
    PortCounters* counters = nullptr;
    uint32_t wire_bytes = 0;  // of the frame on the wire
    uint8_t wire_queue = 0;
    uint8_t waiting = 0;  // bit q: queue q is not empty
    bool busy = false;
    Cast wire_cast = Cast::kUnicast;
    std::array<PacketList, kQueues> queues;
  };
  static Cast cast_of(const uint8_t* destination) noexcept {
    if ((destination[0] & ethernet::kMulticastBit) == 0) [[likely]]
      return Cast::kUnicast;
    return load48(destination) == 0xffffffffffff ? Cast::kBroadcast : Cast::kMulticast;
  }
  // Puts the packet on the wire; returns when its last bit has left.
  [[gnu::always_inline]] static Instant start(Port& port, uint8_t queue, Packet packet, Instant at) noexcept {
    port.wire_bytes = packet.frame_bytes();
    port.wire_queue = queue;
    port.wire_cast = packet.meta().cast;
    return port.wire->send(std::move(packet), at);
  }
  // When the last bit has left: until then the frame is charged to its queue, and a packet is in one place only.
  static void count_departure(const Port& port) noexcept {
    PortCounters& counters = *port.counters;
    const uint32_t bytes = port.wire_bytes;
    ++counters.tx_packets;
    counters.tx_bytes += bytes;
    counters.queues[port.wire_queue].left(bytes);
    if (port.wire_cast == Cast::kUnicast) [[likely]]
      return;
    ++(port.wire_cast == Cast::kBroadcast ? counters.tx_broadcast_packets : counters.tx_multicast_packets);
  }
  // The first frame has left; what waits behind it starts.
  void finish_first() noexcept {
    Port& port = ports_[busy_.top_id()];
    count_departure(port);
    if (port.waiting == 0) {
      port.busy = false;
      busy_.pop();
      return;
    }
    const auto q = static_cast<uint8_t>(std::bit_width(port.waiting) - 1);
    PacketList& queue = port.queues[q];
    Packet packet = queue.pop();
    if (queue.empty()) {
      port.waiting &= static_cast<uint8_t>(~(1U << q));
    } else {
      queue.prefetch_front();
    }
    busy_.replace_top(start(port, q, std::move(packet), busy_.next()));
  }
  static void forget(Port& port, uint32_t queue, uint32_t bytes) noexcept {
    QueueCounters& counters = port.counters->queues[queue];
    --counters.current_packets;
    counters.current_bytes -= bytes;
  }

  std::vector<Port> ports_;
  TimedHeap busy_;
};

}  // namespace softspine::dataplane
