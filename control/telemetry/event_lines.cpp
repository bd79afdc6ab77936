// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/event_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

using dataplane::Event;
using dataplane::EventKind;

constexpr std::array kFacts{
    EventFacts{EventKind::kXoffRaised, "xoff_raised", "A priority group reached its limit: its neighbour is to pause."},
    EventFacts{EventKind::kXoffCleared, "xoff_cleared", "The group has drained, or a watchdog or plan has ended it."},
    EventFacts{EventKind::kPauseReceived, "pause_received", "A PFC or PAUSE frame asks the port to pause."},
    EventFacts{EventKind::kResumeReceived, "resume_received", "A PFC or PAUSE frame lets the port go on."},
    EventFacts{EventKind::kPauseLapsed, "pause_lapsed", "The time of a pause that was obeyed has run out."},
    EventFacts{EventKind::kStormDetected, "storm_detected", "The PFC watchdog has found a storm."},
    EventFacts{EventKind::kStormRestored, "storm_restored", "The PFC watchdog has found the storm to be over."},
    EventFacts{EventKind::kDrops, "drops", "A burst of drops of one reason is over."},
    EventFacts{EventKind::kLinkUp, "link_up", "The port's link has come up."},
    EventFacts{EventKind::kLinkDown, "link_down", "The port's link has gone down."},
};

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

const EventFacts& facts_of(EventKind kind) {
  return *std::ranges::find(kFacts, kind, &EventFacts::kind);
}

void add_event_line(std::string& out, const Event& event, std::string_view port) {
  auto end = std::back_inserter(out);
  fmt::format_to(end, "{{\"t_ps\":{},\"event\":\"{}\",\"port\":{}", event.at.count_ps(), facts_of(event.kind).name,
                 Json(port).dump());
  if (has_priorities(event.kind)) add_priorities(out, event.priorities);
  if (event.group != Event::kNoGroup) fmt::format_to(end, ",\"group\":{}", event.group);
  if (event.kind == EventKind::kDrops) {
    fmt::format_to(end, ",\"reason\":\"{}\",\"packets\":{},\"first_ps\":{},\"last_ps\":{}",
                   dataplane::name_of(event.reason), event.count, event.first.count_ps(), event.last.count_ps());
  }
  out += "}\n";
}

void add_event_line(std::string& out, dataplane::Instant at, std::string_view name, std::string_view key,
                    std::string_view value) {
  fmt::format_to(std::back_inserter(out), "{{\"t_ps\":{},\"event\":\"{}\",\"{}\":{}}}\n", at.count_ps(), name, key,
                 Json(value).dump());
}

}  // namespace softspine::control
