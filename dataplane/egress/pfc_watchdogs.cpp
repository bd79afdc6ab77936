// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/pfc_watchdogs.hpp"

#include <algorithm>

namespace softspine::dataplane {

bool PfcWatchdogs::are_needed(const QosPlan& plan) noexcept {
  return std::ranges::any_of(plan.ports,
                             [](const PortQosPlan& port) { return port.watchdog.action != WatchdogAction::kNone; });
}

bool PfcWatchdogs::is_watched_alike(const PortQosPlan& before, const PortQosPlan& next) noexcept {
  return before.watchdog == next.watchdog && before.pfc_enabled == next.pfc_enabled &&
         before.queues_of_priority == next.queues_of_priority && before.priorities_of_pg == next.priorities_of_pg;
}

// All priorities of the port have been in storms since the last poll, and so no pause frame was counted.
bool PfcWatchdogs::is_blind(uint16_t port) const noexcept {
  const PortQosPlan& plan = plan_->ports[port];
  if (!plan.watchdog.counts_while_enabled || plan.watchdog.action != WatchdogAction::kDrop) return false;
  for (uint8_t priority = 0; priority < kPriorities; ++priority) {
    if ((plan.pfc_enabled >> priority & 1) != 0 && !watchdogs_[port][priority].stormed()) return false;
  }
  return true;
}

WatchdogSample PfcWatchdogs::sample(uint16_t port, uint8_t priority, Instant now) const noexcept {
  const PauseState& pauses = flow_control_.port(port).pauses();
  WatchdogSample sample;
  sample.pause_frames = pauses.rx_frames(Priority{priority});
  sample.paused = pauses.paused_time(Priority{priority}, now);
  for (uint32_t q = 0; q < kQueues; ++q) {
    if ((plan_->ports[port].queues_of_priority[priority] >> q & 1) == 0) continue;
    const QueueCounters& queue = counters_[port].queues[q];
    sample.waiting_packets += queue.current_packets;
    sample.sent_packets += queue.packets;
  }
  return sample;
}

WatchdogTraffic PfcWatchdogs::traffic(PortNo port, Priority priority) const noexcept {
  const PortQosPlan& plan = plan_->ports[port.value()];
  const auto bit = static_cast<uint8_t>(1U << priority.value());
  WatchdogTraffic traffic;
  for (uint32_t i = 0; i < kQueues; ++i) {
    if ((plan.queues_of_priority[priority.value()] >> i & 1) != 0) {
      const QueueCounters& queue = counters_[port.value()].queues[i];
      traffic = traffic + WatchdogTraffic{.tx_packets = queue.packets, .tx_drops = queue.dropped_packets};
    }
    if ((plan.priorities_of_pg[i] & bit) != 0) {
      const uint64_t taken = mmu_.pg(port.value(), i).packets;
      const uint64_t refused = mmu_.extremes(port.value(), i).counters.dropped_packets;
      traffic = traffic + WatchdogTraffic{.rx_packets = taken, .rx_drops = refused};
    }
  }
  return traffic;
}

// Notes what had been counted when it began, or ended.
WatchdogFinding PfcWatchdogs::found(PortNo port, Priority priority, WatchdogEvent event) noexcept {
  PfcWatchdog& watchdog = watchdogs_[port.value()][priority.value()];
  const WatchdogTraffic by_then = traffic(port, priority);
  event == WatchdogEvent::kStorm ? watchdog.began(by_then) : watchdog.ended(by_then);
  return {.port = port, .priority = priority, .event = event, .action = plan_->ports[port.value()].watchdog.action};
}

}  // namespace softspine::dataplane
