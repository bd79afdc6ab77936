// SPDX-License-Identifier: Apache-2.0
// The egress side of a switch, and the buffer before it. Egress joins these parts, none of which knows it:
//
//   admission       may the packet wait: link, WRED, shared buffer     admission.hpp, early_detection.hpp
//   departures      queues, scheduler, the frame on each wire          departures.hpp, port_scheduler.hpp
//   flow control    what neighbours forbid us, what we ask of them     priority_group_flow_control.hpp
//   timers          when a pause, shaper or owed frame is due          port_timers.hpp
//   watchdogs       is a priority in a storm                           pfc_watchdogs.hpp
//
// Steps that join them happen here:
//   enqueue   admission charges the packet to a priority group and a queue, or refuses it; departures let it begin to
//             leave, or queue it; if the group has entered its headroom, XOFF is raised last, so the PFC frame begins
//             at once where that port's wire is free
//             (An enqueue that is not the usual case is asked for again when all departures so far are completed.)
//   departure the frame's cells go back, which may clear its group's XOFF; then the port's next frame begins
//   timer     the port's flow control and shapers are looked at again; or the watchdogs poll, and what they find is
//             carried out: the priority is shut, or its pauses are ignored, until it is restored
//
// Departures and timers are events in the order of (instant; timers first; port). The caller puts arrivals between
// them: `act_through(t)` before an arrival at t, `act_before(until)` at the end of a window.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/egress/admission.hpp"
#include "dataplane/egress/departures.hpp"
#include "dataplane/egress/early_detection.hpp"
#include "dataplane/egress/event_recorder.hpp"
#include "dataplane/egress/pfc_watchdogs.hpp"
#include "dataplane/egress/port_counters.hpp"
#include "dataplane/egress/port_timers.hpp"
#include "dataplane/egress/priority_group_flow_control.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/packet/loss_buffer.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

class Egress {
 public:
  // The node's transmitters, generator and counters, and the pool, outlive this. Nothing is admitted before apply().
  Egress(Node& node, std::vector<PortCounters>& counters, PacketPool& pool, Rng& rng);

  // Between windows. Queued packets stay; the new plan holds for them, too. `router`: the source of PFC and
  // credit frames at ports that have no MAC of their own.
  void apply(std::shared_ptr<const QosPlan> plan, const MacAddress& router, Instant now);

  // Takes the packet at `now` for the out_port and queue in its meta, or returns why not: the caller then keeps it.
  [[gnu::always_inline]] DropReason enqueue(Packet& packet, Instant now) noexcept {
    const PacketMeta& meta = packet.meta();
    const uint16_t number = meta.out_port;
    const uint8_t q = meta.queue;
    EgressPort& port = departures_.port(number);
    departures_.complete_last(now, number, [this](EgressPort& last, uint32_t at) { complete(last, at); });
    if (Departures::is_overdue(port, now)) {
      if ((port.held >> q & 1) == 0 && admission_.pass_on(port, packet)) {
        departures_.follow(port, number, packet, now);
        return DropReason::kCount;
      }
      complete(port, number);
    }
    bool is_exact = departures_.are_complete(now);
    while (!admission_.admit_usual(port, packet, is_exact)) [[unlikely]] {
      if (is_exact) return enqueue_unusual(packet, now);
      complete_through(now);
      is_exact = true;
    }
    departures_.add(port, number, q, packet, now);
    return DropReason::kCount;
  }

  // Called shortly before enqueue().
  [[gnu::always_inline]] void prefetch_for(const PacketMeta& meta) const noexcept {
    departures_.prefetch_for(meta.out_port, meta.traffic_class);
    admission_.prefetch_for(meta);
  }
  [[gnu::always_inline]] void act_through(Instant at) noexcept {
    while (next() <= at) act();
  }
  void act_before(Instant until) noexcept {
    while (next() < until) act();
  }
  Instant next() const { return std::min(departures_.next(), timers_.next()); }

  // Departures that were put off (departures.hpp) are no events: next() leaves them out. Those before `now` are to be
  // completed before anything that an observer may read or a control action may change; those at `now`, too, before an
  // arrival that is not simply enqueued.
  void complete_before(Instant now) noexcept { complete_through(now - Duration::ps(1)); }
  [[gnu::noinline]] void complete_through(Instant now) noexcept {
    departures_.complete_all(now, [this](EgressPort& port, uint32_t number) { complete(port, number); });
  }
  Instant first_put_off() const noexcept { return departures_.first_put_off(); }

  // A PFC, PAUSE or credit frame has come in at a port.
  void receive(PortNo port, const PfcFrame& frame, Instant now) noexcept;
  void receive(PortNo port, const CreditFrame& frame, Instant now) noexcept;
  // Called for each frame that has come in while flow_control().uses_credit(), after it was enqueued or has ended.
  void count_received(PortNo port, uint8_t group, uint32_t frame_bytes, Instant now) noexcept {
    if (flow_control_.count_received(port.value(), group, frame_bytes, now)) departures_.kick(port.value(), now);
  }
  // A fault: the port does not react to pauses of exactly these priorities.
  void make_deaf(PortNo port, uint8_t priorities, Instant now) noexcept;
  // Whether the port's queues may send. Frames of its own (PFC, credit) go either way.
  void enable_tx(PortNo port, bool enabled, Instant now) noexcept;
  // Called after Transmitter::set_up(). When the link has gone down, the caller then calls flush(). Pauses end with
  // the link; XOFFs that are still raised are announced when it is back.
  void link_changed(PortNo port, bool up, Instant now) noexcept;

  // Ends all that waits at a port: end(packet).
  template <typename End>
  void flush(PortNo number, Instant now, End&& end) noexcept {
    for (uint8_t q = 0; q < kQueues; ++q) flush_queue(number.value(), q, now, end);
  }
  // After the last window: ends all that waits anywhere, and announces nothing.
  void drain() noexcept;

  // Ends a packet, and counts it at the port it came in by, or would have left by if it was made here.
  void discard(Packet packet, DropReason reason, Instant now) noexcept;
  // Between windows. Null: no event is recorded any more. The recorder outlives this object, or is removed before.
  void record_events(EventRecorder* events) { events_ = events; }
  // As record_events(), for packets that are lost here; `node`: the node's number in the records.
  void record_losses(LossBuffer* losses, uint32_t node) {
    losses_ = losses;
    node_in_losses_ = node;
  }

  // To be prefetched: what every packet touches of this, beside the ports.
  std::array<const void*, 3> places() const { return {&admission_, &timers_, &departures_}; }

  const Mmu& mmu() const { return admission_.mmu(); }
  Mmu& mmu() { return admission_.mmu(); }
  const Departures& departures() const { return departures_; }
  const PriorityGroupFlowControl& flow_control() const { return flow_control_; }
  const PortFlowControl& flow_control(PortNo port) const { return flow_control_.port(port.value()); }
  const PfcWatchdogs& watchdogs() const { return watchdogs_; }
  const QosPlan& plan() const { return *plan_; }
  uint32_t ports() const { return departures_.ports(); }
  const PortCounters& counters(PortNo port) const { return *departures_.port(port.value()).counters; }

 private:
  // The first event: a timer, or a frame that has left.
  [[gnu::always_inline]] void act() noexcept {
    if (timers_.next() <= departures_.next()) [[unlikely]] {
      fire();
    } else {
      finish_first();
    }
  }
  [[gnu::always_inline]] void finish_first() noexcept {
    const uint32_t number = departures_.first();
    const Instant at = departures_.next();
    EgressPort& port = departures_.port(number);
    if (Departures::count_departure(port)) [[likely]] {
      if (admission_.release(number, port.wire_queue, port.wire_held_by, port.wire_cells)) [[unlikely]]
        clear_xoff(port.wire_held_by, at);
    }
    departures_.start_following(port, number, at);
  }
  // The frame on the port's wire has left, and its departure was put off.
  [[gnu::always_inline]] void complete(EgressPort& port, uint32_t number) noexcept {
    Departures::count_departure(port);
    const bool is_event = admission_.release(number, port.wire_queue, port.wire_held_by, port.wire_cells);
    SOFTSPINE_CHECK(!is_event, number, port.wire_held_by);
    port.busy = false;
  }

  // The following functions are called rarely, and lie apart (egress.cpp).
  [[gnu::noinline]] DropReason enqueue_unusual(Packet& packet, Instant now) noexcept;
  // Whether departures may be put off, after the buffer or the plan may have changed that.
  void allow_putting_off() noexcept { departures_.put_off_departures(!mmu().exact_only()); }
  [[gnu::noinline]] void raise_xoff(uint32_t group, Instant now) noexcept;
  [[gnu::noinline]] void clear_xoff(uint32_t group, Instant now) noexcept;
  [[gnu::noinline]] void fire() noexcept;
  template <typename End>
  void flush_queue(uint32_t number, uint8_t q, Instant now, End&& end) noexcept {
    departures_.take_waiting(number, q, [&](Packet packet) {
      const PacketMeta& meta = packet.meta();
      if (admission_.release(number, q, meta.held_by, meta.cells) && !draining_) clear_xoff(meta.held_by, now);
      end(std::move(packet));
    });
  }
  void carry_out(const WatchdogFinding& finding, Instant now) noexcept;
  void set_watchdog_timer(const QosPlan* last, Instant now) noexcept;
  void ignore_pauses(PortNo port, uint8_t priorities, Instant now) noexcept;
  void shut(PortNo port, Priority priority, bool shut, Instant now) noexcept;
  void record(EventKind kind, uint32_t port, uint8_t priorities, Instant now, uint8_t group = Event::kNoGroup) noexcept;
  void record_xoff(uint32_t port, uint8_t before, Instant now, uint8_t group = Event::kNoGroup) noexcept;
  void record_pause(uint32_t port, const PfcFrame& frame, Instant now) noexcept;

  // A packet touches three cache lines of these: the first of the MMU, the timers', and the first of departures.
  Admission admission_;
  alignas(kCacheLine) PortTimers timers_;
  PriorityGroupFlowControl flow_control_;
  Departures departures_;
  EarlyDetection wred_;
  PfcWatchdogs watchdogs_;
  bool draining_ = false;
  EventRecorder* events_ = nullptr;
  LossBuffer* losses_ = nullptr;
  uint32_t node_in_losses_ = 0;
  std::shared_ptr<const QosPlan> plan_;
};

}  // namespace softspine::dataplane
