// SPDX-License-Identifier: Apache-2.0
// Packets that wait at a switch's ports, and that leave them: eight queues a port, one frame at a time on each wire.
//
//   add        an admitted packet begins to leave if the wire is free and its queue may send, else it waits
//   departure  the last bit of the first frame has left (count_departure). The port's next frame begins at that very
//              instant, however late the poll is (start_following): a frame of our own that flow control owes the
//              neighbour (PFC, credit), else the scheduler's choice among the queues that are not held. A late poll
//              therefore changes no rate: start = max(ready, port free). WRED marks a packet when it begins to leave
//   hold       a queue is held while flow control blocks one of its priorities, or a shaper is closed: its own, or the
//              port's; and while TX of its port is disabled
//   kick       something has changed at a port: what may begin now begins, and the port's timer is set anew
//
// Ownership: a packet is its queue's list's until it begins to leave, then the link's. The port keeps the facts of the
// frame on the wire (EgressPort::wire_*), since it stays charged to queue and group until its last bit has left. PFC
// and credit frames wait in no queue and take no cells: flow control knows what the port owes, and the frame is written
// when it can begin to leave. When memory for it is short, it is tried again after 1 µs and counted as kNoBuffer.
//
// This class does not know the buffer: its caller releases the cells between count_departure() and start_following().
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "dataplane/egress/early_detection.hpp"
#include "dataplane/egress/egress_port.hpp"
#include "dataplane/egress/port_counters.hpp"
#include "dataplane/egress/port_scheduler.hpp"
#include "dataplane/egress/port_timers.hpp"
#include "dataplane/egress/priority_group_flow_control.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class alignas(kCacheLine) Departures {
 public:
  // The parts it works with, and the node's transmitters and counters; all outlive it.
  struct Parts {
    PriorityGroupFlowControl& flow_control;
    EarlyDetection& wred;
    PortTimers& timers;
    PacketPool& pool;  // for frames of our own
  };
  Departures(Node& node, std::vector<PortCounters>& counters, const Parts& parts);

  // Between windows. `router`: the source of PFC and credit frames at ports that have no MAC of their own.
  void apply(const QosPlan& plan, const MacAddress& router) noexcept;

  // Takes an admitted packet for queue `q` of the port whose number is `number`.
  [[gnu::always_inline]] void add(EgressPort& port, uint32_t number, uint8_t q, Packet& packet, Instant now) noexcept {
    if (port.busy || (port.held >> q & 1) != 0) {
      port.waiting |= static_cast<uint8_t>(1U << q);
      port.queues[q].push(std::move(packet));
    } else {
      port.busy = true;
      busy_.push(start(port, q, std::move(packet), now), number);
    }
  }

  // Called shortly before add().
  [[gnu::always_inline]] void prefetch_for(uint32_t number, uint8_t q) const noexcept {
    prefetch(ports_.data() + number);
    prefetch(&ports_[number].queues[q]);
  }
  // When the first frame's last bit has left, and at which port; never() if no wire is busy.
  Instant next() const { return busy_.next(); }
  uint32_t first() const { return busy_.top_id(); }
  // The first frame has left `port`. Returns whether it came from a queue: the port still has the cells it held.
  [[gnu::always_inline]] static bool count_departure(EgressPort& port) noexcept {
    PortCounters& counters = *port.counters;
    counters.departed(port.wire_bytes);
    if (port.wire_queue >= kCreditFrame) [[unlikely]] {
      ++counters.made_packets;
      counters.pause_tx_frames += port.wire_queue == kPfcFrame ? 1 : 0;
      counters.departed_to_several(false);
      return false;
    }
    counters.queues[port.wire_queue].left(port.wire_bytes);
    if (port.wire_cast != Cast::kUnicast) [[unlikely]]
      counters.departed_to_several(port.wire_cast == Cast::kBroadcast);
    return true;
  }
  // The first frame has left at `at`: the port's next frame begins to leave.
  [[gnu::always_inline]] void start_following(EgressPort& port, uint32_t number, Instant at) noexcept {
    if (port.has_frame) [[unlikely]] {
      const Instant left = start_own_frame(number, at);
      if (!left.is_never()) return busy_.replace_top(left);
    }
    const auto ready = static_cast<uint8_t>(port.waiting & ~port.held);
    if (ready == 0) {
      port.busy = false;
      busy_.pop();
      return;
    }
    busy_.replace_top(start_next(port, number, ready, at));
  }

  // Reports to flow control the frame that is on the wire, before anything that may begin or end a pause: it still
  // leaves.
  void tell_leaving(uint32_t number) noexcept;
  // Takes effect at the next hold().
  void enable_tx(uint32_t number, bool enabled) noexcept { control_[number].tx_disabled = !enabled; }
  // Finds the queues that may not send at `at`, for any reason. Uses the flow control state as last applied, so `at`
  // may lie in the future.
  void hold(uint32_t number, Instant at) noexcept;
  void kick(uint32_t number, Instant at) noexcept;
  // Sets the port's timer as flow control and shapers need it now.
  void arm(uint32_t number) noexcept;
  // Flow control may have changed by `at`, and with it what is held.
  void reconsider(uint32_t number, Instant at) noexcept;

  // Removes all packets that wait in a queue, first to last: take(packet). Does not release their cells.
  template <typename Take>
  void take_waiting(uint32_t number, uint8_t q, Take&& take) noexcept {
    EgressPort& port = ports_[number];
    QueueCounters& counters = port.counters->queues[q];
    port.waiting &= static_cast<uint8_t>(~(1U << q));
    while (!port.queues[q].empty()) {
      Packet packet = port.queues[q].pop();
      --counters.current_packets;
      counters.current_bytes -= packet.frame_bytes();
      take(std::move(packet));
    }
  }

  EgressPort& port(uint32_t number) { return ports_[number]; }
  const EgressPort& port(uint32_t number) const { return ports_[number]; }
  uint32_t ports() const { return static_cast<uint32_t>(ports_.size()); }

  // For observers, between windows.
  // Queues that are not empty and may not send, since they are paused or have no credit.
  uint8_t stuck_queues(PortNo port) const { return control_[port.value()].blocked & ports_[port.value()].waiting; }
  // Calls see(glance) for each packet that waits in a queue, first to last.
  template <typename See>
  void for_each_waiting(PortNo port, uint32_t queue, See&& see) const {
    ports_[port.value()].queues[queue].for_each(see);
  }
  // Calls see(port, glance) for each packet that waits behind the frame on its port's wire.
  template <typename See>
  void see_waiting(See&& see) const {
    for (uint16_t i = 0; i < ports_.size(); ++i) {
      for (const PacketList& queue : ports_[i].queues) {
        queue.for_each([&](const PacketGlance& packet) { see(PortNo{i}, packet); });
      }
    }
  }
  // Whether a frame of this port is on the wire: its link has counted it, the port not yet.
  bool is_sending(PortNo port) const { return ports_[port.value()].busy; }
  // Whether the frame on the wire came from a queue, which is still charged for it; a PFC or credit frame of our own is
  // charged to no queue.
  bool is_sending_queued(PortNo port) const {
    const EgressPort& out = ports_[port.value()];
    return out.busy && out.wire_queue < kCreditFrame;
  }

 private:
  // Puts the packet on the wire; returns when its last bit has left.
  [[gnu::always_inline]] Instant start(EgressPort& port, uint8_t q, Packet packet, Instant at) noexcept {
    const PacketMeta& meta = packet.meta();
    port.wire_bytes = meta.frame_bytes;
    port.wire_queue = q;
    port.wire_cast = meta.cast;
    port.wire_cells = meta.cells;
    port.wire_held_by = meta.held_by;
    QueueCounters& queue = port.counters->queues[q];
    if (port.has_wred && queue.current_bytes > port.mark_from) [[unlikely]]
      wred_.mark(packet, queue);
    if (port.does_more) [[unlikely]]
      return send_with_more(port, q, std::move(packet), at);
    port.wire_left = port.wire->send(std::move(packet), at);
    return port.wire_left;
  }
  [[gnu::always_inline]] Instant start_next(EgressPort& port, uint32_t number, uint8_t ready, Instant at) noexcept {
    const auto strict = static_cast<uint8_t>(ready & port.strict);
    PortScheduler& scheduler = control_[number].scheduler;
    const auto q = strict != 0 ? static_cast<uint8_t>(std::bit_width(strict) - 1) : scheduler.pick(ready);
    PacketList& queue = port.queues[q];
    Packet packet = queue.pop();
    if (queue.empty()) {
      port.waiting &= static_cast<uint8_t>(~(1U << q));
    } else {
      queue.prefetch_front();
    }
    if (strict == 0) scheduler.picked(q, packet.frame_bytes(), queue.empty());
    return start(port, q, std::move(packet), at);
  }
  // At a port that writes telemetry into its frames, or charges them to a shaper or to credit.
  [[gnu::noinline]] Instant send_with_more(EgressPort& port, uint8_t q, Packet packet, Instant at) noexcept;
  void charge(EgressPort& port, uint8_t q, Instant at, Instant left) noexcept;
  Instant start_own_frame(uint32_t number, Instant at) noexcept;
  void plan_port(uint32_t number, const QosPlan& plan) noexcept;

  // One cache line, to where control_ begins, is what a packet touches of this.
  TimedHeap busy_;  // ports with a frame on the wire, by when it has left
  std::vector<EgressPort> ports_;
  std::vector<PortControl> control_;
  PriorityGroupFlowControl& flow_control_;
  EarlyDetection& wred_;
  PortTimers& timers_;
  PacketPool& pool_;
};

}  // namespace softspine::dataplane
