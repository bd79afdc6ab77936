// SPDX-License-Identifier: Apache-2.0
// What happened, as JSON lines in the order of emulated time:
//
//   {"events": 1, "testbed": …}
//   {"t_ps": 12000, "event": "xoff_raised", "port": "tor1:Ethernet0", "priorities": [3], "group": 3}
//   {"t_ps": 13000, "event": "pause_received", "port": "tor2:Ethernet8", "priorities": [3]}
//   {"t_ps": 29000, "event": "drops", "port": …, "reason": "queue_full", "packets": 7, "first_ps": …, "last_ps": …}
//   {"t_ps": 40000, "event": "fault", "what": "link tor1:Ethernet16 – core1:Ethernet0 down"}
//   {"end_ps": …, "lines": …, "lost": 0}
// Which events there are: dataplane/egress/event_recorder.hpp, kinds_of_events(), and docs/counters.md.
#pragma once

#include <string>
#include <string_view>

#include "dataplane/egress/event_recorder.hpp"

namespace softspine::control {

struct EventFacts {
  dataplane::EventKind kind;
  std::string_view name;  // in the file
  std::string_view help;  // a sentence
};
const EventFacts& facts_of(dataplane::EventKind kind);

void add_event_line(std::string& out, const dataplane::Event& event, std::string_view port);
// A fault, a stack's decision, a change of routes, a deadlock: what control did or found. `key` and `value` say to
// whom.
void add_event_line(std::string& out, dataplane::Instant at, std::string_view name, std::string_view key,
                    std::string_view value);

}  // namespace softspine::control
