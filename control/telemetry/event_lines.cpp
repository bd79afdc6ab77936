// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/event_lines.hpp"

#include <array>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {

namespace {

using dataplane::EventKind;

// The rows stand in the order of EventKind, then of ControlEvent.
constexpr std::array kFacts{
    EventFacts{"xoff_raised", "A priority group reached its limit: its neighbour is to pause."},
    EventFacts{"xoff_cleared", "The group has drained, or a watchdog or plan has ended it."},
    EventFacts{"pause_received", "A PFC or PAUSE frame asks the port to pause."},
    EventFacts{"resume_received", "A PFC or PAUSE frame lets the port go on."},
    EventFacts{"pause_lapsed", "The time of a pause that was obeyed has run out."},
    EventFacts{"storm_detected", "The PFC watchdog has found a storm."},
    EventFacts{"storm_restored", "The PFC watchdog has found the storm to be over."},
    EventFacts{"drops", "A burst of drops of one reason is over."},
    EventFacts{"link_up", "The port's link has come up."},
    EventFacts{"link_down", "The port's link has gone down."},
    EventFacts{"fault", "A fault of the testbed, or an injected one, has begun or ended."},
    EventFacts{"stack", "A stack of ToRs has decided who is primary, or which ports are shut."},
    EventFacts{"route_change", "A switch has got new tables, since links went down or came up."},
    EventFacts{"deadlock_found", "Queues wait for each other in a circle."},
    EventFacts{"outside_gone",
               "The interface or the device of a host outside was deleted, or taken out of the machine."},
};

constexpr size_t kSwitchEvents = static_cast<size_t>(EventKind::kLinkDown) + 1;
static_assert(kFacts.size() == kSwitchEvents + static_cast<size_t>(ControlEvent::kOutsideGone) + 1);
}  // namespace

std::span<const EventFacts> event_facts() {
  return kFacts;
}
size_t row_of(EventKind kind) {
  return static_cast<size_t>(kind);
}
size_t row_of(ControlEvent kind) {
  return kSwitchEvents + static_cast<size_t>(kind);
}

Json events_json(const FabricSnapshot& snapshot) {
  if (!snapshot.events) return {};
  Json lines = Json::object();
  for (size_t i = 0; i < kFacts.size(); ++i) add_key(lines, std::string{kFacts[i].name}, snapshot.events->lines.at(i));
  return {{"lines", std::move(lines)}};
}

std::string events_table(const FabricSnapshot& snapshot) {
  if (!snapshot.events) return "no event log is written: `softspine run --events FILE` writes one\n";
  TextTable table{{"<EVENT", "LINES", "<WHAT IT IS"}};
  for (size_t i = 0; i < kFacts.size(); ++i) {
    table.add({std::string{kFacts[i].name}, grouped(snapshot.events->lines.at(i)), std::string{kFacts[i].help}});
  }
  return table.text();
}

}  // namespace softspine::control
