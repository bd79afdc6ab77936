// SPDX-License-Identifier: Apache-2.0
#include "dataplane/egress/pfc_watchdogs.hpp"

#include <algorithm>

#include "dataplane/egress/egress.hpp"

namespace softspine::dataplane {

bool PfcWatchdogs::are_needed(const QosPlan& plan) noexcept {
  return std::ranges::any_of(plan.ports,
                             [](const PortQosPlan& port) { return port.watchdog.action != WatchdogAction::kNone; });
}

void PfcWatchdogs::poll(Instant now) noexcept {
  const QosPlan& plan = egress_.plan();
  for (uint16_t port = 0; port < watchdogs_.size(); ++port) {
    const PortQosPlan& at_port = plan.ports[port];
    if (at_port.watchdog.action == WatchdogAction::kNone) continue;
    for (uint8_t priority = 0; priority < kPriorities; ++priority) {
      if (((at_port.pfc_enabled & at_port.watchdog.priorities) >> priority & 1) == 0) continue;
      PfcWatchdog& watchdog = watchdogs_[port][priority];
      switch (watchdog.poll(sample(port, priority, now), plan.watchdog_poll, at_port.watchdog)) {
        case WatchdogEvent::kNone: break;
        case WatchdogEvent::kStorm: begin_storm(port, priority, now); break;
        case WatchdogEvent::kRestored: end_storm(port, priority, now); break;
      }
    }
  }
}

WatchdogSample PfcWatchdogs::sample(uint16_t port, uint8_t priority, Instant now) const noexcept {
  const PauseState& pauses = egress_.flow_control(PortNo{port}).pauses();
  WatchdogSample sample;
  sample.pause_frames = pauses.rx_frames(Priority{priority});
  sample.paused = pauses.paused_time(Priority{priority}, now);
  for (uint32_t q = 0; q < kQueues; ++q) {
    if ((egress_.plan().ports[port].queues_of_priority[priority] >> q & 1) == 0) continue;
    const QueueCounters& queue = egress_.counters(PortNo{port}).queues[q];
    sample.waiting_packets += queue.current_packets;
    sample.sent_packets += queue.packets;
  }
  return sample;
}

WatchdogTraffic PfcWatchdogs::traffic(PortNo port, Priority priority) const noexcept {
  const PortQosPlan& plan = egress_.plan().ports[port.value()];
  const auto bit = static_cast<uint8_t>(1U << priority.value());
  WatchdogTraffic traffic;
  for (uint32_t i = 0; i < kQueues; ++i) {
    if ((plan.queues_of_priority[priority.value()] >> i & 1) != 0) {
      const QueueCounters& queue = egress_.counters(port).queues[i];
      traffic = traffic + WatchdogTraffic{.tx_packets = queue.packets, .tx_drops = queue.dropped_packets};
    }
    if ((plan.priorities_of_group[i] & bit) != 0) {
      const uint64_t taken = egress_.mmu().group(port.value(), i).packets;
      const uint64_t refused = egress_.mmu().extremes(port.value(), i).refused;
      traffic = traffic + WatchdogTraffic{.rx_packets = taken, .rx_drops = refused};
    }
  }
  return traffic;
}

void PfcWatchdogs::end_otherwise_watched(const QosPlan& next, Instant now) noexcept {
  for (uint16_t port = 0; port < watchdogs_.size(); ++port) {
    const PortQosPlan& plan = egress_.plan().ports[port];
    const PortQosPlan& wanted = next.ports[port];
    const bool same = plan.watchdog == wanted.watchdog && plan.pfc_enabled == wanted.pfc_enabled &&
                      plan.queues_of_priority == wanted.queues_of_priority &&
                      plan.priorities_of_group == wanted.priorities_of_group;
    for (uint8_t priority = 0; !same && priority < kPriorities; ++priority) {
      if (!watchdogs_[port][priority].stormed()) continue;
      watchdogs_[port][priority].abandon();
      end_storm(port, priority, now);
    }
  }
}

void PfcWatchdogs::begin_storm(uint16_t port, uint8_t priority, Instant now) noexcept {
  const PortNo number{port};
  const auto bit = static_cast<uint8_t>(1U << priority);
  watchdogs_[port][priority].began(traffic(number, Priority{priority}));
  switch (egress_.plan().ports[port].watchdog.action) {
    case WatchdogAction::kForward:
      egress_.ignore_pauses(number, egress_.flow_control(number).ignored() | bit, now);
      break;
    case WatchdogAction::kDrop: egress_.shut(number, Priority{priority}, true, now); break;
    case WatchdogAction::kNone:
    case WatchdogAction::kAlert: break;
  }
}

void PfcWatchdogs::end_storm(uint16_t port, uint8_t priority, Instant now) noexcept {
  const PortNo number{port};
  const auto bit = static_cast<uint8_t>(1U << priority);
  watchdogs_[port][priority].ended(traffic(number, Priority{priority}));
  egress_.shut(number, Priority{priority}, false, now);
  egress_.ignore_pauses(number, static_cast<uint8_t>(egress_.flow_control(number).ignored() & ~bit), now);
}

}  // namespace softspine::dataplane
