// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/egress.hpp"

#include <utility>

#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

Egress::Egress(Node& node, std::vector<PortCounters>& counters, PacketPool& pool, Rng& rng)
    : admission_(node.ports(), wred_),
      timers_(node.ports()),
      flow_control_(node.ports(), admission_.mmu()),
      departures_(node, counters, {.flow_control = flow_control_, .wred = wred_, .timers = timers_, .pool = pool}),
      wred_(rng),
      watchdogs_(flow_control_, admission_.mmu(), counters) {}

void Egress::apply(std::shared_ptr<const QosPlan> plan, const MacAddress& router, Instant now) {
  SOFTSPINE_CHECK(plan->ports.size() == ports(), plan->ports.size(), ports());
  watchdogs_.apply(*plan, [&](const WatchdogFinding& finding) { carry_out(finding, now); });
  const std::shared_ptr<const QosPlan> last = std::exchange(plan_, std::move(plan));  // flow control still has it
  admission_.apply(*plan_);
  allow_putting_off();
  wred_.apply(*plan_);
  departures_.apply(*plan_, router);
  std::vector<uint8_t> raised(ports());
  for (uint16_t i = 0; i < ports(); ++i) raised[i] = flow_control_.port(i).raised_xoff();
  flow_control_.apply(*plan_, now);
  for (uint16_t i = 0; i < ports(); ++i) {
    record_xoff(i, raised[i], now);
    for (uint8_t g = 0; g < kPriorities; ++g) {
      if (mmu().reconsider_xoff(i, g)) clear_xoff(Mmu::number_of_pg(i, g), now);
    }
    departures_.hold(i, now);
    // Credit frames wait for the port's timer: before the first window nothing can be sent.
    flow_control_.port(i).goes_by_credit() ? departures_.arm(i) : departures_.kick(i, now);
  }
  set_watchdog_timer(last.get(), now);
}

// Where more than the usual may come of it. All departures so far are completed.
DropReason Egress::enqueue_unusual(Packet& packet, Instant now) noexcept {
  const PacketMeta& meta = packet.meta();
  const uint16_t number = meta.out_port;
  EgressPort& port = departures_.port(number);
  const DropReason refused = admission_.admit(port, packet);
  if (refused != DropReason::kCount) return refused;
  const uint32_t group = meta.held_by;
  allow_putting_off();
  departures_.add(port, number, meta.queue, packet, now);
  if (admission_.must_raise_xoff()) raise_xoff(group, now);
  return DropReason::kCount;
}

// Watchdogs that go on keep their rhythm: a change of something else must not put off their next look.
void Egress::set_watchdog_timer(const QosPlan* last, Instant now) noexcept {
  if (!PfcWatchdogs::are_needed(*plan_)) return timers_.set(timers_.watchdogs(), Instant::never());
  const bool go_on = last != nullptr && PfcWatchdogs::are_needed(*last) && last->watchdog_poll == plan_->watchdog_poll;
  if (!go_on) timers_.set(timers_.watchdogs(), now + plan_->watchdog_poll);
}

void Egress::fire() noexcept {
  const Instant at = timers_.next();
  complete_before(at);
  const uint32_t timer = timers_.take();
  if (timer != timers_.watchdogs()) {
    const uint8_t before = flow_control_.port(timer).pauses().mask();
    departures_.reconsider(timer, at);
    const auto lapsed = static_cast<uint8_t>(before & ~flow_control_.port(timer).pauses().mask());
    return record(EventKind::kPauseLapsed, timer, lapsed, at);
  }
  timers_.set(timer, at + plan_->watchdog_poll);
  watchdogs_.poll(at, [&](const WatchdogFinding& finding) { carry_out(finding, at); });
}

void Egress::receive(PortNo port, const PfcFrame& frame, Instant now) noexcept {
  const uint32_t n = port.value();
  if (events_ != nullptr) [[unlikely]]
    record_pause(n, frame, now);
  departures_.tell_leaving(n);
  flow_control_.port(n).receive(frame, departures_.port(n).wire->rate(), now);
  if ((frame.enable & plan_->ports[n].pfc_enabled) != 0) departures_.reconsider(n, now);
}

void Egress::receive(PortNo port, const CreditFrame& frame, Instant now) noexcept {
  const uint32_t n = port.value();
  flow_control_.port(n).receive(frame, now);
  departures_.hold(n, now);
  departures_.kick(n, now);
}

void Egress::raise_xoff(uint32_t group, Instant now) noexcept {
  const uint32_t port = group / kPriorities;
  const uint8_t before = flow_control_.port(port).raised_xoff();
  if (!flow_control_.raise_xoff(group, now)) return;
  record_xoff(port, before, now, static_cast<uint8_t>(group % kPriorities));
  departures_.kick(port, now);
}

void Egress::clear_xoff(uint32_t group, Instant now) noexcept {
  allow_putting_off();
  const uint32_t port = group / kPriorities;
  if (port >= ports()) return;  // what the switch itself makes pauses nobody
  const uint8_t before = flow_control_.port(port).raised_xoff();
  if (!flow_control_.clear_xoff(group, now)) return;
  record_xoff(port, before, now, static_cast<uint8_t>(group % kPriorities));
  departures_.kick(port, now);
}

void Egress::make_deaf(PortNo port, uint8_t priorities, Instant now) noexcept {
  departures_.tell_leaving(port.value());
  flow_control_.port(port.value()).make_deaf(priorities, now);
  departures_.reconsider(port.value(), now);
}

void Egress::enable_tx(PortNo port, bool enabled, Instant now) noexcept {
  departures_.enable_tx(port.value(), enabled);
  departures_.reconsider(port.value(), now);
}

void Egress::link_changed(PortNo port, bool up, Instant now) noexcept {
  const uint32_t n = port.value();
  record(up ? EventKind::kLinkUp : EventKind::kLinkDown, n, 0xff, now);
  flow_control_.port(n).link_changed(up, now);
  if (up) return departures_.kick(n, now);
  departures_.hold(n, now);
  departures_.arm(n);
}

void Egress::carry_out(const WatchdogFinding& finding, Instant now) noexcept {
  const auto bit = static_cast<uint8_t>(1U << finding.priority.value());
  const uint8_t ignored = flow_control(finding.port).ignored();
  const bool is_over = finding.event == WatchdogEvent::kRestored;
  record(is_over ? EventKind::kStormRestored : EventKind::kStormDetected, finding.port.value(), bit, now);
  if (finding.event == WatchdogEvent::kRestored) {
    shut(finding.port, finding.priority, false, now);
    return ignore_pauses(finding.port, static_cast<uint8_t>(ignored & ~bit), now);
  }
  switch (finding.action) {
    case WatchdogAction::kForward: return ignore_pauses(finding.port, ignored | bit, now);
    case WatchdogAction::kDrop: return shut(finding.port, finding.priority, true, now);
    case WatchdogAction::kNone:
    case WatchdogAction::kAlert: return;
  }
}

// Pauses of exactly these priorities are ignored, and their XOFF is cleared.
void Egress::ignore_pauses(PortNo port, uint8_t priorities, Instant now) noexcept {
  const uint8_t before = flow_control_.port(port.value()).raised_xoff();
  flow_control_.ignore(port.value(), priorities, now);
  record_xoff(port.value(), before, now);
  departures_.reconsider(port.value(), now);
}

// Packets of the priority that wait end, unless the chip keeps them, and those that come are refused; or no longer.
void Egress::shut(PortNo port, Priority priority, bool shut, Instant now) noexcept {
  const uint32_t n = port.value();
  for (uint8_t i = 0; i < kQueues; ++i) {
    const bool is_shut = admission_.shut(n, i, priority, shut);
    allow_putting_off();
    if (!is_shut || plan_->ports[n].watchdog.keeps_waiting) continue;
    flush_queue(n, i, now, [&](Packet packet) {
      departures_.port(n).counters->queues[i].refused(packet.frame_bytes());
      discard(std::move(packet), DropReason::kPfcWatchdog, now);
    });
  }
  departures_.reconsider(n, now);
}

void Egress::record(EventKind kind, uint32_t port, uint8_t priorities, Instant now, uint8_t group) noexcept {
  if (events_ == nullptr || priorities == 0) return;
  Event event{.at = now, .first = now, .last = now};
  event.port = static_cast<uint16_t>(port);
  event.kind = kind;
  event.priorities = priorities;
  event.group = group;
  events_->record(event);
}

// `before`: the XOFFs that were raised at the port before a change.
void Egress::record_xoff(uint32_t port, uint8_t before, Instant now, uint8_t group) noexcept {
  if (events_ == nullptr) return;
  const uint8_t after = flow_control_.port(port).raised_xoff();
  record(EventKind::kXoffRaised, port, static_cast<uint8_t>(after & ~before), now, group);
  record(EventKind::kXoffCleared, port, static_cast<uint8_t>(before & ~after), now, group);
}

void Egress::record_pause(uint32_t port, const PfcFrame& frame, Instant now) noexcept {
  uint8_t paused = 0;
  for (uint32_t i = 0; i < kPriorities; ++i) paused |= static_cast<uint8_t>((frame.quanta[i] != 0 ? 1U : 0U) << i);
  record(EventKind::kPauseReceived, port, frame.enable & paused, now);
  record(EventKind::kResumeReceived, port, static_cast<uint8_t>(frame.enable & ~paused), now);
}

void Egress::discard(Packet packet, DropReason reason, Instant now) noexcept {
  const PacketMeta& meta = packet.meta();
  const uint16_t home = meta.in_port != kLocalPort ? meta.in_port : meta.out_port;
  PortCounters& counters = *departures_.port(home).counters;
  ++counters.drops[static_cast<size_t>(reason)];
  counters.ended_flow_packets += packet.is_of_flow() ? 1 : 0;
  if (events_ != nullptr && !is_consumed(reason)) [[unlikely]]
    events_->dropped(home, reason, now);
  if (losses_ != nullptr && !is_consumed(reason)) [[unlikely]]
    losses_->add(loss_of(packet, node_in_losses_, reason, now));
  PacketPool::release(std::move(packet));
}

void Egress::drain() noexcept {
  draining_ = true;
  for (uint16_t i = 0; i < ports(); ++i) {
    flush(PortNo{i}, Instant{}, [](Packet packet) { PacketPool::release(std::move(packet)); });
  }
}

}  // namespace softspine::dataplane
