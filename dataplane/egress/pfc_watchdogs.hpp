// SPDX-License-Identifier: Apache-2.0
// The PFC watchdogs of a switch: one for each (port, priority) that the plan has watched, polled all at once. A policy
// over what flow control and counters say; what it decides it does through Egress.
//
//   storm       drop      what waits for the priority ends (kPfcWatchdog), what comes for it is refused, both ways
//               forward   pauses of the priority are ignored, and its XOFF is cleared and not raised again
//               alert     nothing: it is counted
//   restored    all that is undone
// A new plan that watches otherwise, or gives the priority other queues or groups, ends its storm; one that goes on is
// found again. Source: SONiC's PfcWdSwOrch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/egress/pfc_watchdog.hpp"

namespace softspine::dataplane {

class Egress;

class PfcWatchdogs {
 public:
  // Is a member of `egress`.
  PfcWatchdogs(Egress& egress, uint32_t ports) : egress_(egress), watchdogs_(ports) {}

  static bool are_needed(const QosPlan& plan) noexcept;
  // Before the plan changes.
  void end_otherwise_watched(const QosPlan& next, Instant now) noexcept;
  // Each plan.watchdog_poll.
  void poll(Instant now) noexcept;

  const PfcWatchdog& at(PortNo port, Priority priority) const { return watchdogs_[port.value()][priority.value()]; }
  // Counted so far, whether in a storm or not.
  WatchdogTraffic traffic(PortNo port, Priority priority) const noexcept;

 private:
  WatchdogSample sample(uint16_t port, uint8_t priority, Instant now) const noexcept;
  void begin_storm(uint16_t port, uint8_t priority, Instant now) noexcept;
  void end_storm(uint16_t port, uint8_t priority, Instant now) noexcept;

  Egress& egress_;
  std::vector<std::array<PfcWatchdog, kPriorities>> watchdogs_;
};

}  // namespace softspine::dataplane
