// SPDX-License-Identifier: Apache-2.0
// Packets that wait at a switch's ports, and that leave them: eight queues a port, one frame at a time on each wire.
//
//   add        an admitted packet begins to leave if the wire is free and its queue may send, else it waits
//   departure  the last bit of the first frame has left (count_departure). The port's next frame begins at that very
//              instant, however late the poll is (start_following): a frame of our own that flow control owes the
//              neighbour (PFC, credit), else the scheduler's choice among the queues that are not held. A late poll
//              therefore changes no rate: start = max(ready, port free). WRED marks a packet when it begins to leave
//   put off    behind a frame nothing waits: that it has left concerns nobody until its port, its cells or its counters
//              are asked for. Its departure is no event, but is completed then, with all others that are due. If
//              something comes to wait behind it, its departure becomes an event. So do all departures, and no more are
//              put off, while instants of departures matter to somebody else (put_off_departures)
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
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/egress/early_detection.hpp"
#include "dataplane/egress/egress_port.hpp"
#include "dataplane/egress/port_counters.hpp"
#include "dataplane/egress/port_scheduler.hpp"
#include "dataplane/egress/port_timers.hpp"
#include "dataplane/egress/priority_group_flow_control.hpp"
#include "dataplane/egress/put_off_ports.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/timed_row.hpp"

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
      if (port.put_off) await(port, number);
      port.waiting |= static_cast<uint8_t>(1U << q);
      port.queues[q].push(std::move(packet));
    } else {
      port.busy = true;
      const Instant left = start(port, q, std::move(packet), now);
      if (may_put_off(port)) [[likely]] {
        put_off(port, number);
      } else {
        busy_.push(left, number);
      }
    }
  }

  // Called shortly before add().
  [[gnu::always_inline]] void prefetch_for(uint32_t number, uint8_t q) const noexcept {
    prefetch(ports_.get() + number);
    prefetch(&ports_[number].queues[q]);
  }
  // As add(), for a packet to which the frame that has left, and is overdue, passes on what it is charged.
  [[gnu::always_inline]] void follow(EgressPort& port, uint32_t number, Packet& packet, Instant now) noexcept {
    PortCounters& counters = *port.counters;
    QueueCounters& queue = counters.queues[port.wire_queue];
    counters.departed(port.wire_bytes);
    queue.passed_on(port.wire_bytes);
    if (port.wire_cast != Cast::kUnicast) [[unlikely]]
      counters.departed_to_several(port.wire_cast == Cast::kBroadcast);
    port.wire_cast = cast_of(packet.data());
    packet.meta().remark = Remark::kNone;
    send(port, queue, std::move(packet), now);
    put_off(port, number);
  }
  // Whether departures may be put off from now on. If not, those that are become events: the caller has completed
  // those that are due.
  void put_off_departures(bool may) noexcept;
  // Whether the port's frame has left by `now`, and its departure is not completed.
  static bool is_overdue(const EgressPort& port, Instant now) {
    return port.put_off && port.busy && port.wire_left <= now;
  }
  // Whether it is known that no port is so.
  bool are_complete(Instant now) const { return put_off_.none_is_due(now); }
  // Calls complete(port, number) for each such port: for that alone whose departure was put off last, but not for port
  // `but`; and for all.
  template <typename Complete>
  [[gnu::always_inline]] void complete_last(Instant now, uint32_t but, Complete&& complete) noexcept {
    if (put_off_.last() == but) return;
    const std::optional<uint32_t> last = put_off_.take_last(now);
    if (last && is_overdue(ports_[*last], now)) complete(ports_[*last], *last);
  }
  template <typename Complete>
  void complete_all(Instant now, Complete&& complete) noexcept {
    if (are_complete(now)) return;
    put_off_.revise([&](uint32_t number) {
      EgressPort& port = ports_[number];
      if (port.busy && port.wire_left > now) return port.wire_left;
      if (port.busy) complete(port, number);
      port.put_off = false;
      return Instant::never();
    });
  }
  // When the first departure is due that was put off; never() if there is none.
  Instant first_put_off() const noexcept;
  // The first event: when a frame's last bit has left, and at which port; never() if there is none.
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
    const Instant left = start_next(port, number, ready, at);
    if (may_put_off(port)) {
      busy_.pop();
      put_off(port, number);
    } else {
      busy_.replace_top(left);
    }
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
  uint32_t ports() const { return count_; }

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
    for (uint16_t i = 0; i < count_; ++i) {
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
  // With a frame that begins to leave. (A shaper looks at its queue at each departure.)
  bool may_put_off(const EgressPort& port) const {
    return puts_off_ && port.waiting == 0 && !port.has_frame && !port.charges;
  }
  [[gnu::always_inline]] void put_off(EgressPort& port, uint32_t number) noexcept {
    put_off_.add(number, port.wire_left, !port.put_off);
    port.put_off = true;
  }
  // The departure of the frame on the port's wire, if there is one, is an event from now on.
  [[gnu::noinline]] void await(EgressPort& port, uint32_t number) noexcept {
    put_off_.remove(number);
    port.put_off = false;
    if (port.busy) busy_.push(port.wire_left, number);
  }
  // Puts the packet on the wire; returns when its last bit has left.
  [[gnu::always_inline]] Instant start(EgressPort& port, uint8_t q, Packet packet, Instant at) noexcept {
    const PacketMeta& meta = packet.meta();
    port.wire_bytes = meta.frame_bytes;
    port.wire_queue = q;
    port.wire_cast = meta.cast;
    port.wire_cells = meta.cells;
    port.wire_held_by = meta.held_by;
    return send(port, port.counters->queues[q], std::move(packet), at);
  }
  [[gnu::always_inline]] Instant send(EgressPort& port, QueueCounters& queue, Packet packet, Instant at) noexcept {
    if (port.has_wred && queue.current_bytes > port.mark_from) [[unlikely]]
      wred_.mark(packet, queue);
    if (port.does_more) [[unlikely]]
      return send_with_more(port, port.wire_queue, std::move(packet), at);
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

  // One cache line, to what put_off_ has first, is what a packet touches of this.
  TimedRow busy_;  // ports with a frame on the wire whose departure is an event, by when it has left
  std::unique_ptr<EgressPort[]> ports_;
  PutOffPorts put_off_;
  uint16_t count_;  // of ports
  bool puts_off_ = false;
  std::vector<PortControl> control_;
  PriorityGroupFlowControl& flow_control_;
  EarlyDetection& wred_;
  PortTimers& timers_;
  PacketPool& pool_;
};

}  // namespace softspine::dataplane
