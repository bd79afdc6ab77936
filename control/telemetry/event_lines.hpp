// SPDX-License-Identifier: Apache-2.0
// What happened, as JSON lines in the order of emulated time:
//
//   {"events": 1, "testbed": …}
//   {"t_ps": 12000, "event": "xoff_raised", "port": "tor1:Ethernet0", "priorities": [3], "group": 3}
//   {"t_ps": 13000, "event": "pause_received", "port": "tor2:Ethernet8", "priorities": [3]}
//   {"t_ps": 29000, "event": "drops", "port": …, "reason": "queue_full", "packets": 7, "first_ps": …, "last_ps": …}
//   {"t_ps": 40000, "event": "fault", "what": "link tor1:Ethernet16 – core1:Ethernet0 down"}
//   {"end_ps": …, "lines": …}
// Which events there are: dataplane/egress/event_recorder.hpp, event_facts(), and docs/counters.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "control/telemetry/json.hpp"
#include "control/telemetry/snapshot.hpp"
#include "dataplane/egress/event_recorder.hpp"

namespace softspine::control {

// What control did or found.
enum class ControlEvent : uint8_t { kFault, kStack, kRouteChange, kDeadlockFound, kOutsideGone };

struct EventFacts {
  std::string_view name;  // in the file
  std::string_view help;  // a sentence
};
// First those of switches, in the order of their kinds, then control's.
std::span<const EventFacts> event_facts();
size_t row_of(dataplane::EventKind kind);
size_t row_of(ControlEvent kind);

void add_event_line(std::string& out, const dataplane::Event& event, std::string_view port);
// `value` says to whom, or what.
void add_event_line(std::string& out, dataplane::Instant at, ControlEvent kind, std::string_view value);

// How many lines of each kind the log has; null without a log.
Json events_json(const FabricSnapshot& snapshot);
std::string events_table(const FabricSnapshot& snapshot);

}  // namespace softspine::control
