// SPDX-License-Identifier: Apache-2.0
// Egress watched: the PFC watchdog (what is sampled at each poll, what is done about a storm), and stuck queues.
#include <algorithm>

#include "dataplane/egress/egress.hpp"

namespace softspine::dataplane {

// As it should stand in the heap of timers, behind the ports.
void Egress::arm_watchdogs(Instant now) noexcept {
  const auto id = static_cast<uint32_t>(ports_.size());
  timers_.remove(id);
  const bool any = std::ranges::any_of(
      plan_->ports, [](const PortQosPlan& port) { return port.watchdog.action != WatchdogAction::kNone; });
  if (any) timers_.push(now + plan_->watchdog_poll, id);
}

void Egress::poll_watchdogs(Instant at) noexcept {
  timers_.replace_top(at + plan_->watchdog_poll);
  for (uint32_t number = 0; number < ports_.size(); ++number) {
    const PortQosPlan& plan = plan_->ports[number];
    if (plan.watchdog.action == WatchdogAction::kNone) continue;
    for (uint8_t priority = 0; priority < kPriorities; ++priority) {
      if (((plan.pfc_enabled & plan.watchdog.priorities) >> priority & 1) == 0) continue;
      PfcWatchdog& watchdog = side_[number].watchdogs[priority];
      switch (watchdog.poll(sample(number, priority, at), plan_->watchdog_poll, plan.watchdog)) {
        case WatchdogEvent::kNone: break;
        case WatchdogEvent::kStorm: begin_storm(number, priority, at); break;
        case WatchdogEvent::kRestored: end_storm(number, priority, at); break;
      }
    }
  }
}

WatchdogSample Egress::sample(uint32_t number, uint8_t priority, Instant at) const noexcept {
  const Side& side = side_[number];
  WatchdogSample sample;
  sample.pause_frames = side.pause.rx_frames(Priority{priority});
  sample.paused = side.pause.paused_time(Priority{priority}, at);
  for (uint32_t q = 0; q < kQueues; ++q) {
    if ((plan_->ports[number].queues_of_priority[priority] >> q & 1) == 0) continue;
    sample.waiting_packets += ports_[number].counters->queues[q].current_packets;
    sample.sent_packets += ports_[number].counters->queues[q].packets;
  }
  return sample;
}

WatchdogTraffic Egress::watched_traffic(PortNo port, Priority priority) const noexcept {
  const PortQosPlan& plan = plan_->ports[port.value()];
  const auto bit = static_cast<uint8_t>(1U << priority.value());
  WatchdogTraffic traffic;
  for (uint32_t i = 0; i < kQueues; ++i) {
    if ((plan.queues_of_priority[priority.value()] >> i & 1) != 0) {
      const QueueCounters& queue = ports_[port.value()].counters->queues[i];
      traffic = traffic + WatchdogTraffic{.tx_packets = queue.packets, .tx_drops = queue.dropped_packets};
    }
    if ((plan.priorities_of_group[i] & bit) != 0) {
      const uint64_t taken = mmu_.group(port.value(), i).packets;
      traffic = traffic + WatchdogTraffic{.rx_packets = taken, .rx_drops = mmu_.extremes(port.value(), i).refused};
    }
  }
  return traffic;
}

// Before a new plan: where it watches otherwise, or has other queues and groups for a priority, a storm ends. One that
// goes on is found again.
void Egress::end_otherwise_watched(const QosPlan& next, Instant now) noexcept {
  for (uint32_t number = 0; number < ports_.size(); ++number) {
    const PortQosPlan& plan = plan_->ports[number];
    const PortQosPlan& wanted = next.ports[number];
    const bool same = plan.watchdog == wanted.watchdog && plan.pfc_enabled == wanted.pfc_enabled &&
                      plan.queues_of_priority == wanted.queues_of_priority &&
                      plan.priorities_of_group == wanted.priorities_of_group;
    for (uint8_t priority = 0; !same && priority < kPriorities; ++priority) {
      if (!side_[number].watchdogs[priority].stormed()) continue;
      side_[number].watchdogs[priority].let_go();
      end_storm(number, priority, now);
    }
  }
}

void Egress::begin_storm(uint32_t number, uint8_t priority, Instant at) noexcept {
  const PortQosPlan& plan = plan_->ports[number];
  const auto bit = static_cast<uint8_t>(1U << priority);
  Side& side = side_[number];
  const auto port = static_cast<uint16_t>(number);
  side.watchdogs[priority].began(watched_traffic(PortNo{port}, Priority{priority}));
  if (plan.watchdog.action == WatchdogAction::kForward) {
    side.ignored |= bit;
    side.pfc.let_go(bit);
  }
  if (plan.watchdog.action == WatchdogAction::kDrop) {
    for (uint8_t i = 0; i < kQueues; ++i) {
      if ((plan.priorities_of_group[i] & bit) != 0)
        mmu_.set_group(number, i, plan_->buffer.ports[number].groups[i], true);
      if ((plan.queues_of_priority[priority] >> i & 1) == 0) continue;
      mmu_.set_queue(number, i, plan_->buffer.ports[number].queues[i], true);
      flush_queue(number, i, at, [&](Packet packet) {
        ports_[number].counters->queues[i].refused(packet.frame_bytes());
        discard(std::move(packet), DropReason::kPfcWatchdog);
      });
    }
  }
  take_pauses(number, at);
  hold(number, at);
  kick(number, at);
}

void Egress::end_storm(uint32_t number, uint8_t priority, Instant at) noexcept {
  const PortQosPlan& plan = plan_->ports[number];
  const auto bit = static_cast<uint8_t>(1U << priority);
  const auto port = static_cast<uint16_t>(number);
  side_[number].watchdogs[priority].ended(watched_traffic(PortNo{port}, Priority{priority}));
  side_[number].ignored &= static_cast<uint8_t>(~bit);
  for (uint8_t i = 0; i < kQueues; ++i) {
    if ((plan.priorities_of_group[i] & bit) != 0)
      mmu_.set_group(number, i, plan_->buffer.ports[number].groups[i], false);
    if ((plan.queues_of_priority[priority] >> i & 1) != 0) {
      mmu_.set_queue(number, i, plan_->buffer.ports[number].queues[i], false);
    }
    // A port that forwarded has not told its neighbour to stop: who is in its headroom now does.
    const bool wants_stop = (plan.priorities_of_group[i] & bit) != 0 && mmu_.group(number, i).xoff;
    if (wants_stop && (side_[number].pfc.stopped() & bit) == 0) stop_sender(Mmu::number_of_group(number, i), at);
  }
  take_pauses(number, at);
  hold(number, at);
  kick(number, at);
}

std::vector<StuckQueue> Egress::stuck_queues() const {
  std::vector<StuckQueue> out;
  for (uint16_t number = 0; number < ports_.size(); ++number) {
    const Port& port = ports_[number];
    const auto stuck = static_cast<uint8_t>((side_[number].paused | side_[number].starved) & port.waiting);
    if (stuck == 0) continue;
    for (uint8_t priority = 0; priority < kPriorities; ++priority) {
      const auto queues = static_cast<uint8_t>(stuck & plan_->ports[number].queues_of_priority[priority]);
      if (queues == 0) continue;
      StuckQueue found{.port = PortNo{number}, .priority = Priority{priority}};
      for (uint32_t q = 0; q < kQueues; ++q) {
        if ((queues >> q & 1) != 0) found.sent_packets += port.counters->queues[q].packets;
      }
      out.push_back(found);
    }
  }
  return out;
}

std::vector<PortNo> Egress::sources_of(PortNo port, Priority priority) const {
  std::vector<bool> seen(ports_.size());
  for (uint32_t q = 0; q < kQueues; ++q) {
    if ((plan_->ports[port.value()].queues_of_priority[priority.value()] >> q & 1) == 0) continue;
    ports_[port.value()].queues[q].for_each([&](const PacketMeta& meta, uint32_t) {
      if (meta.in_port != kLocalPort) seen[meta.in_port] = true;
    });
  }
  std::vector<PortNo> out;
  for (uint16_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) out.push_back(PortNo{i});
  }
  return out;
}

}  // namespace softspine::dataplane
