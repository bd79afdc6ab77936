// SPDX-License-Identifier: Apache-2.0
// Kinds of events, and how often each happened. How it is written: control/record/json_lines.hpp.
// Which events there are: dataplane/egress/event_recorder.hpp, event_facts(), and docs/counters.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"
#include "dataplane/egress/event_recorder.hpp"

namespace softspine::control {

// Events of control: actions and findings.
enum class ControlEvent : uint8_t { kFault, kStack, kRouteChange, kDeadlockFound, kOutsideGone };

struct EventFacts {
  std::string_view name;  // in the file
  std::string_view help;  // a sentence
};
// First those of switches, in the order of their kinds, then control's.
std::span<const EventFacts> event_facts();
size_t row_of(dataplane::EventKind kind);
size_t row_of(ControlEvent kind);

// How many lines of each kind the log has; null without a log.
Json events_json(const FabricSnapshot& snapshot);
std::string events_table(const FabricSnapshot& snapshot);

}  // namespace softspine::control
