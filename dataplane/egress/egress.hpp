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
#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class Egress {
 public:
  // The node's transmitters and counters outlive this; both have one entry a port.
  Egress(Node& node, std::vector<PortCounters>& counters);

  // Admits the packet to (out_port, queue) of its meta at `now`, or says why not: then it is still
  // the caller's. `limit_bytes` is the queue's.
  DropReason enqueue(Packet& packet, Instant now, uint32_t limit_bytes) noexcept;

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
        forget(port.value(), q, packet.frame_bytes());
        end(std::move(packet));
      }
    }
    p.waiting = 0;
  }

 private:
  enum class Cast : uint8_t { kUnicast, kMulticast, kBroadcast };
  struct alignas(64) Port {
    std::array<PacketList, kQueues> queues;
    uint32_t wire_bytes = 0;  // of the frame on the wire
    uint8_t wire_queue = 0;
    uint8_t waiting = 0;  // bit q: queue q is not empty
    bool busy = false;
    Cast wire_cast = Cast::kUnicast;
  };
  Instant start(uint16_t port, Packet packet, Instant at) noexcept;
  void finish_first() noexcept;
  void count_departure(const Port& port, PortCounters& counters) noexcept;
  void forget(uint16_t port, uint32_t queue, uint32_t bytes) noexcept;

  Node& node_;
  std::vector<PortCounters>& counters_;
  std::vector<Port> ports_;
  TimedHeap busy_;
};

}  // namespace softspine::dataplane
