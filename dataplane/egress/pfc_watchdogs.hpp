// SPDX-License-Identifier: Apache-2.0
// The PFC watchdogs of a switch: one for each (port, priority) that the plan watches, all polled together. They only
// read flow control, buffer and counters, and report what they find.
//
//   storm       the priority is stuck (pfc_watchdog.hpp). The caller of poll() carries out the finding's action:
//               drop      what waits for the priority ends (kPfcWatchdog), what comes for it is refused, both ways
//               forward   pauses of the priority are ignored, and its XOFF is cleared and not raised again
//               alert     nothing: it is counted
//   restored    the caller of poll() undoes the action
// Two ways in which chips differ, found in public bug reports (docs/captures.md):
//   keeps_waiting          drop: what waits stays where it is, so its priority groups stay full, and their XOFF raised
//   counts_while_enabled   `drop` switches PFC off for the priority.
//                          While PFC is off for all priorities that the port has, the chip counts no pause frames,
//                          so each storm seems to be over
// A new plan that changes a priority's watchdog, queues or priority groups ends its storm; a storm that goes on is
// found again. A finding is carried out before the next priority is polled. Source: SONiC's PfcWdSwOrch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/buffer/mmu.hpp"
#include "dataplane/egress/pfc_watchdog.hpp"
#include "dataplane/egress/port_counters.hpp"
#include "dataplane/egress/priority_group_flow_control.hpp"
#include "dataplane/egress/qos_plan.hpp"

namespace softspine::dataplane {

struct WatchdogFinding {
  PortNo port;
  Priority priority;
  WatchdogEvent event = WatchdogEvent::kNone;
  WatchdogAction action = WatchdogAction::kNone;  // of a storm
};

class PfcWatchdogs {
 public:
  // All three outlive this. `counters`: by port.
  PfcWatchdogs(const PriorityGroupFlowControl& flow_control, const Mmu& mmu, const std::vector<PortCounters>& counters)
      : flow_control_(flow_control),
        mmu_(mmu),
        counters_(counters),
        watchdogs_(counters.size()),
        unseen_(counters.size()) {}

  static bool are_needed(const QosPlan& plan) noexcept;
  // To be called before any other part has the new plan, which must stay valid until the next call. Calls act(finding)
  // for each storm that the new plan ends.
  template <typename Act>
  void apply(const QosPlan& next, Act&& act) noexcept {
    for (uint16_t port = 0; plan_ != nullptr && port < watchdogs_.size(); ++port) {
      if (is_watched_alike(plan_->ports[port], next.ports[port])) continue;
      for (uint8_t priority = 0; priority < kPriorities; ++priority) {
        PfcWatchdog& watchdog = watchdogs_[port][priority];
        if (!watchdog.stormed()) continue;
        watchdog.abandon();
        act(found(PortNo{port}, Priority{priority}, WatchdogEvent::kRestored));
      }
    }
    plan_ = &next;
  }
  // To be called every plan.watchdog_poll. Calls act(finding) for each storm that begins or is over.
  template <typename Act>
  void poll(Instant now, Act&& act) noexcept {
    for (uint16_t port = 0; port < watchdogs_.size(); ++port) {
      const WatchdogPlan& plan = plan_->ports[port].watchdog;
      if (plan.action == WatchdogAction::kNone) continue;
      const auto watched = static_cast<uint8_t>(plan_->ports[port].pfc_enabled & plan.priorities);
      const bool blind = is_blind(port);
      for (uint8_t priority = 0; priority < kPriorities; ++priority) {
        if ((watched >> priority & 1) == 0) continue;
        WatchdogSample seen = sample(port, priority, now);
        uint64_t& unseen = unseen_[port][priority];
        if (blind) unseen = seen.pause_frames - watchdogs_[port][priority].seen_pause_frames();
        seen.pause_frames -= unseen;
        const WatchdogEvent event = watchdogs_[port][priority].poll(seen, plan_->watchdog_poll, plan);
        if (event != WatchdogEvent::kNone) act(found(PortNo{port}, Priority{priority}, event));
      }
    }
  }

  const PfcWatchdog& at(PortNo port, Priority priority) const { return watchdogs_[port.value()][priority.value()]; }
  // Counted so far, whether in a storm or not.
  WatchdogTraffic traffic(PortNo port, Priority priority) const noexcept;

 private:
  static bool is_watched_alike(const PortQosPlan& before, const PortQosPlan& next) noexcept;
  bool is_blind(uint16_t port) const noexcept;
  WatchdogSample sample(uint16_t port, uint8_t priority, Instant now) const noexcept;
  WatchdogFinding found(PortNo port, Priority priority, WatchdogEvent event) noexcept;

  const PriorityGroupFlowControl& flow_control_;
  const Mmu& mmu_;
  const std::vector<PortCounters>& counters_;
  const QosPlan* plan_ = nullptr;
  std::vector<std::array<PfcWatchdog, kPriorities>> watchdogs_;
  std::vector<std::array<uint64_t, kPriorities>> unseen_;  // pause frames that the chip has not counted
};

}  // namespace softspine::dataplane
