// SPDX-License-Identifier: Apache-2.0
// The QoS plan of a switch: buffer, schedulers, shapers, WRED, flow control and watchdog of each port. Control compiles
// it from SONiC's tables (BUFFER_*, SCHEDULER, WRED_PROFILE, PORT_QOS_MAP, PFC_WD). A plan is immutable and shared.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/buffer/buffer_plan.hpp"
#include "dataplane/egress/wred.hpp"
#include "dataplane/flow_control/link_parameters.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

// A rate that is not exceeded over more than `burst_bytes`; zero: none.
struct ShaperPlan {
  Rate rate;
  uint32_t burst_bytes = 0;
};

struct QueueSchedule {
  bool strict = true;
  uint8_t weight = 1;  // DWRR: 1 … 100, shares of bytes
  ShaperPlan shaper;
  uint8_t wred = 0;  // into QosPlan::wred
};

// The action on a priority that stays paused (SONiC's PFC_WD).
enum class WatchdogAction : uint8_t { kNone, kDrop, kForward, kAlert };

struct WatchdogPlan {
  WatchdogAction action = WatchdogAction::kNone;  // none: not watched
  Duration detection = Duration::ms(200);
  Duration restoration = Duration::ms(200);
  uint8_t priorities = 0xff;  // those that are watched (pfcwd_sw_enable)
  // As some chips do it (pfc_watchdogs.hpp).
  bool keeps_waiting = false;         // drop: what waits stays, only what comes is dropped
  bool counts_while_enabled = false;  // counts no pause frames while PFC is off for all of the port's priorities

  friend bool operator==(const WatchdogPlan&, const WatchdogPlan&) = default;
};

struct PortQosPlan {
  MacAddress mac{};  // the source of its pause frames; zero: the router's
  std::array<QueueSchedule, kQueues> queues;
  ShaperPlan shaper;
  LinkParameters link;
  uint8_t pfc_enabled = 0;  // priorities whose pauses are obeyed, and for which XOFF may be raised
  std::array<uint8_t, kPriorities> queues_of_priority{1, 2, 4, 8, 16, 32, 64, 128};  // masks
  std::array<uint8_t, kPriorities> priorities_of_pg{1, 2, 4, 8, 16, 32, 64, 128};
  WatchdogPlan watchdog;
  // With credit-based flow control: the priorities that need credit, and the largest frame that leaves here. Each such
  // priority has a lossless priority group of its own, whose headroom is the room that is granted; pfc_enabled is 0.
  uint8_t credit_enabled = 0;
  uint32_t largest_frame = 0;
};

struct QosPlan {
  BufferPlan buffer;
  std::vector<PortQosPlan> ports;
  std::vector<WredPlan> wred{{}};  // the first marks and drops nothing
  Duration watchdog_poll = Duration::ms(200);
  bool in_band_telemetry = false;  // packets that have room for it get the records of their ports

  // Strict queues with a plain limit each, nothing paused, nothing marked.
  static QosPlan plain(uint32_t ports, const std::array<uint32_t, kQueues>& queue_limit_bytes) {
    QosPlan plan;
    plan.buffer = BufferPlan::plain_limits(ports, queue_limit_bytes);
    plan.ports.resize(ports);
    return plan;
  }
};

}  // namespace softspine::dataplane
