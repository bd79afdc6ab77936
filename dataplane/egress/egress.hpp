// SPDX-License-Identifier: Apache-2.0
// The egress side of a node, and the memory before it: admission by the MMU, eight queues a port, order,
// rates and marks, pauses in both directions, one frame at a time on each wire.
//
//   enqueue   early drop (WRED) → MMU, which may raise XOFF → the wire, if it is free and the queue may send
//   departure the last bit has left: the cells go back, which may clear XOFF; then the port's next frame starts
//             at that very instant (not when the poll came round), so a late poll shifts no rate:
//             start = max(ready, port free).   Next: a frame of our own (pause, credit), else the scheduler's choice
//             among the queues that are not paused, have credit and are not held by a shaper. Marked when it starts.
//   timer     a pause begins or ends, a pause of ours is repeated, a shaper opens, credit is asked for, the watchdog
//             polls
//
// A frame is charged to its group and queue from admission until its last bit has left. PFC frames wait in no
// queue and take no memory: flow control knows what the port owes its neighbour, and the frame is made when it can go.
//
// Who decides: the buffer (mmu.hpp) what is admitted, flow control (group_flow_control.hpp) what is blocked and which
// frames are owed, the scheduler (port_scheduler.hpp) which queue is next, the watchdogs (pfc_watchdogs.hpp) what is
// done about a storm. Here the packets wait, and leave.
//
// What happens here are events in the order of (instant; timers first; port). The caller puts arrivals between
// them: `act_through(t)` before an arrival at t, `act_before(until)` at the end of a window.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/buffer/mmu.hpp"
#include "dataplane/egress/counters.hpp"
#include "dataplane/egress/egress_port.hpp"
#include "dataplane/egress/group_flow_control.hpp"
#include "dataplane/egress/pfc_watchdogs.hpp"
#include "dataplane/egress/port_scheduler.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class Egress {
 public:
  // The node's transmitters, generator and counters, and the pool, outlive this. Nothing is admitted before apply().
  Egress(Node& node, std::vector<PortCounters>& counters, PacketPool& pool, Rng& rng);

  // Between windows. What is held stays, and is judged by the new plan from `now` on. `router`: the source of pause
  // frames at ports that have no MAC of their own.
  void apply(std::shared_ptr<const QosPlan> plan, const MacAddress& router, Instant now);

  // Admits the packet to (out_port, queue) of its meta at `now`, or says why not: then it is still the caller's.
  [[gnu::always_inline]] DropReason enqueue(Packet& packet, Instant now) noexcept {
    PacketMeta& meta = packet.meta();
    const uint16_t number = meta.out_port;
    const uint32_t bytes = meta.frame_bytes;
    const uint8_t q = meta.queue;
    EgressPort& port = ports_[number];
    QueueCounters& queue = port.counters->queues[q];
    if (!port.wire->up()) [[unlikely]]
      return DropReason::kLinkDown;
    if (port.has_wred && queue.current_bytes + bytes > port.drop_from && is_dropped_early(packet, queue.current_bytes))
        [[unlikely]]
      return DropReason::kWredDropped;
    const Mmu::Account account{group_of(meta), Mmu::number_of_queue(number, q)};
    const uint32_t cells = mmu_.admit(account, bytes);
    if (cells == 0) [[unlikely]] {
      if (is_of_queue(mmu_.refused_for())) queue.refused(bytes);
      return mmu_.refused_for();
    }
    queue.entered(bytes);
    meta.cells = static_cast<uint16_t>(cells);
    meta.held_by = static_cast<uint16_t>(account.group);
    meta.cast = cast_of(packet.data());
    meta.remark = Remark::kNone;
    if (port.busy || (port.held >> q & 1) != 0) {
      port.waiting |= static_cast<uint8_t>(1U << q);
      port.queues[q].push(std::move(packet));
    } else {
      port.busy = true;
      busy_.push(start(port, q, std::move(packet), now), number);
    }
    if (mmu_.said_xoff()) [[unlikely]]
      raise_xoff(account.group, now);
    return DropReason::kCount;
  }

  [[gnu::always_inline]] void act_through(Instant at) noexcept {
    while (next() <= at) act();
  }
  void act_before(Instant until) noexcept {
    while (next() < until) act();
  }
  Instant next() const { return std::min(busy_.next(), timers_.next()); }

  // A PFC, PAUSE or credit frame has come in at a port.
  void receive(PortNo port, const PfcFrame& frame, Instant now) noexcept;
  void receive(PortNo port, const CreditFrame& frame, Instant now) noexcept;
  // Each frame that has come in while flow_control().uses_credit(), after it was enqueued or has ended.
  void took_in(PortNo port, uint8_t group, uint32_t frame_bytes, Instant now) noexcept {
    if (flow_control_.took_in(port.value(), group, frame_bytes, now)) kick(port.value(), now);
  }
  // A fault: the port does not react to pauses of exactly these priorities.
  void make_deaf(PortNo port, uint8_t priorities, Instant now) noexcept;
  // For the watchdogs. Pauses of exactly these priorities are ignored, and their XOFF is cleared.
  void ignore_pauses(PortNo port, uint8_t priorities, Instant now) noexcept;
  // For the watchdogs. What waits for the priority ends, and what comes is refused; or no longer.
  void shut(PortNo port, Priority priority, bool shut, Instant now) noexcept;
  // After the transmitter knows; what waits is then flushed by the caller. Pauses end with the link; XOFFs
  // that are still raised are announced when it is back.
  void link_changed(PortNo port, bool up, Instant now) noexcept;

  // Ends all that waits at a port.
  template <typename End>
  void flush(PortNo number, Instant now, End&& end) noexcept {
    for (uint8_t q = 0; q < kQueues; ++q) flush_queue(number.value(), q, now, end);
  }
  // After the last window: ends all that waits anywhere, and announces nothing.
  void drain() noexcept;

  // Ends a packet, and counts it at the port it came in by, or would have left by if it was made here.
  void discard(Packet packet, DropReason reason) noexcept;

  const Mmu& mmu() const { return mmu_; }
  Mmu& mmu() { return mmu_; }
  uint32_t ports() const { return static_cast<uint32_t>(ports_.size()); }
  const PortCounters& counters(PortNo port) const { return *ports_[port.value()].counters; }
  const GroupFlowControl& flow_control() const { return flow_control_; }
  const PortFlowControl& flow_control(PortNo port) const { return flow_control_.port(port.value()); }
  const PfcWatchdogs& watchdogs() const { return watchdogs_; }
  const QosPlan& plan() const { return *plan_; }
  // Queues that have something and may not send it, since they are paused or without credit. Between windows.
  uint8_t stuck_queues(PortNo port) const { return control_[port.value()].blocked & ports_[port.value()].waiting; }
  // What waits in a queue, first to last.
  template <typename See>
  void for_each_waiting(PortNo port, uint32_t queue, See&& see) const {
    ports_[port.value()].queues[queue].for_each(see);
  }
  // Whether a frame of this port is on the wire: its link has counted it, the port not yet.
  bool is_sending(PortNo port) const { return ports_[port.value()].busy; }
  // Whether that is a frame of a queue, which still charges it; else it is one of our own, which nobody charges.
  bool is_sending_queued(PortNo port) const {
    const EgressPort& out = ports_[port.value()];
    return out.busy && out.wire_queue < kCreditFrame;
  }
  // Between windows; looks at every packet that waits behind those on the wires. see(port, flow)
  template <typename See>
  void see_waiting(See&& see) const {
    for (uint16_t i = 0; i < ports_.size(); ++i) {
      for (const PacketList& queue : ports_[i].queues) {
        queue.for_each([&](const PacketMeta&, uint32_t flow) { see(PortNo{i}, flow); });
      }
    }
  }

 private:
  uint32_t group_of(const PacketMeta& meta) const noexcept {
    return Mmu::number_of_group(std::min<uint32_t>(meta.in_port, mmu_.ports()), meta.priority_group);
  }
  // The first event: a timer, or a frame that has left.
  [[gnu::always_inline]] void act() noexcept {
    if (timers_.next() <= busy_.next()) [[unlikely]] {
      fire();
    } else {
      finish_first();
    }
  }
  // Puts the packet on the wire; returns when its last bit has left.
  [[gnu::always_inline]] Instant start(EgressPort& port, uint8_t q, Packet packet, Instant at) noexcept {
    const PacketMeta& meta = packet.meta();
    port.wire_bytes = meta.frame_bytes;
    port.wire_queue = q;
    port.wire_cast = meta.cast;
    port.wire_cells = meta.cells;
    port.wire_held_by = meta.held_by;
    if (port.has_wred && port.counters->queues[q].current_bytes > port.mark_from) [[unlikely]]
      mark(port, q, packet);
    const Instant left = port.wire->send(std::move(packet), at);
    if (port.charges) [[unlikely]]
      charge(port, q, at, left);
    return left;
  }
  // When the last bit has left: until then the frame is charged to its queue, and a packet is in one place only.
  [[gnu::always_inline]] void count_departure(EgressPort& port, uint32_t number, Instant at) noexcept {
    PortCounters& counters = *port.counters;
    const uint32_t bytes = port.wire_bytes;
    ++counters.tx_packets;
    counters.tx_bytes += bytes;
    if (port.wire_queue >= kCreditFrame) [[unlikely]] {
      ++counters.made_packets;
      counters.pause_tx_frames += port.wire_queue == kPfcFrame ? 1 : 0;
      ++counters.tx_multicast_packets;
      return;
    }
    counters.queues[port.wire_queue].left(bytes);
    if (mmu_.release({port.wire_held_by, Mmu::number_of_queue(number, port.wire_queue)}, port.wire_cells)) [[unlikely]]
      clear_xoff(port.wire_held_by, at);
    if (port.wire_cast == Cast::kUnicast) [[likely]]
      return;
    ++(port.wire_cast == Cast::kBroadcast ? counters.tx_broadcast_packets : counters.tx_multicast_packets);
  }
  // The first frame has left; what waits behind it starts.
  [[gnu::always_inline]] void finish_first() noexcept {
    const uint32_t number = busy_.top_id();
    const Instant at = busy_.next();
    EgressPort& port = ports_[number];
    count_departure(port, number, at);
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

  // What follows is rare, and lies apart (egress.cpp, own_frames.cpp).
  void plan_port(uint32_t number);
  [[gnu::noinline]] bool is_dropped_early(const Packet& packet, uint64_t queue_bytes) noexcept;
  [[gnu::noinline]] void mark(EgressPort& port, uint8_t q, Packet& packet) noexcept;
  [[gnu::noinline]] void charge(EgressPort& port, uint8_t q, Instant at, Instant left) noexcept;
  [[gnu::noinline]] void raise_xoff(uint32_t group, Instant now) noexcept;
  [[gnu::noinline]] void clear_xoff(uint32_t group, Instant now) noexcept;
  [[gnu::noinline]] void fire() noexcept;
  template <typename End>
  void flush_queue(uint32_t number, uint8_t q, Instant now, End&& end) noexcept {
    EgressPort& port = ports_[number];
    port.waiting &= static_cast<uint8_t>(~(1U << q));
    while (!port.queues[q].empty()) {
      Packet packet = port.queues[q].pop();
      forget(port, number, q, packet, now);
      end(std::move(packet));
    }
  }
  void arm_watchdogs(Instant now) noexcept;
  void hold(uint32_t number, Instant at) noexcept;
  void kick(uint32_t number, Instant at) noexcept;
  void reconsider(uint32_t number, Instant at) noexcept;
  void arm(uint32_t number) noexcept;
  Instant start_own_frame(uint32_t number, Instant at) noexcept;
  void forget(EgressPort& port, uint32_t number, uint8_t q, const Packet& packet, Instant now) noexcept;

  std::vector<EgressPort> ports_;
  TimedHeap busy_;    // ports with a frame on the wire, by when it has left
  TimedHeap timers_;  // ports with a timer
  Mmu mmu_;
  bool draining_ = false;
  GroupFlowControl flow_control_;
  PfcWatchdogs watchdogs_;
  std::vector<PortControl> control_;
  PacketPool& pool_;
  Rng& rng_;
  std::shared_ptr<const QosPlan> plan_;
};

}  // namespace softspine::dataplane
