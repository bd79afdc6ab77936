// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/event_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "control/telemetry/text_table.hpp"

namespace softspine::control {

namespace {

using dataplane::Event;
using dataplane::EventKind;

// In the order of EventKind, then of ControlEvent.
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
constexpr std::array<std::string_view, 5> kControlKeys{"what", "what", "switch", "circle", "what"};

bool has_priorities(EventKind kind) {
  return kind != EventKind::kDrops && kind != EventKind::kLinkUp && kind != EventKind::kLinkDown;
}

void add_priorities(std::string& out, uint8_t priorities) {
  out += ",\"priorities\":[";
  bool any = false;
  for (uint32_t i = 0; i < dataplane::kPriorities; ++i) {
    if ((priorities >> i & 1) == 0) continue;
    out += any ? "," : "";
    out += std::to_string(i);
    any = true;
  }
  out += ']';
}

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

void add_event_line(std::string& out, const Event& event, std::string_view port) {
  auto end = std::back_inserter(out);
  fmt::format_to(end, "{{\"t_ps\":{},\"event\":\"{}\",\"port\":{}", event.at.count_ps(),
                 kFacts[row_of(event.kind)].name, Json(port).dump());
  if (has_priorities(event.kind)) add_priorities(out, event.priorities);
  if (event.group != Event::kNoGroup) fmt::format_to(end, ",\"group\":{}", event.group);
  if (event.kind == EventKind::kDrops) {
    fmt::format_to(end, ",\"reason\":\"{}\",\"packets\":{},\"first_ps\":{},\"last_ps\":{}",
                   dataplane::name_of(event.reason), event.count, event.first.count_ps(), event.last.count_ps());
  }
  out += "}\n";
}

void add_event_line(std::string& out, dataplane::Instant at, ControlEvent kind, std::string_view value) {
  fmt::format_to(std::back_inserter(out), "{{\"t_ps\":{},\"event\":\"{}\",\"{}\":{}}}\n", at.count_ps(),
                 kFacts[row_of(kind)].name, kControlKeys[static_cast<size_t>(kind)], Json(value).dump());
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
