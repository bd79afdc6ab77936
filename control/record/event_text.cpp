// SPDX-License-Identifier: Apache-2.0
#include "control/record/event_text.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

constexpr std::array<std::string_view, 5> kControlKeys{"what", "what", "switch", "circle", "what"};

std::string quoted_text(std::string_view text) {
  return Json(text).dump();
}

bool has_priorities(dataplane::EventKind kind) {
  using dataplane::EventKind;
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

std::string event_head(const std::string& testbed) {
  return "{\"events\":1,\"testbed\":" + quoted_text(testbed) + "}";
}

void add_event(std::string& out, const dataplane::Event& event, std::string_view port) {
  auto end = std::back_inserter(out);
  fmt::format_to(end, "{{\"t_ps\":{},\"event\":\"{}\",\"port\":{}", event.at.count_ps(),
                 event_facts()[row_of(event.kind)].name, quoted_text(port));
  if (has_priorities(event.kind)) add_priorities(out, event.priorities);
  if (event.group != dataplane::Event::kNoGroup) fmt::format_to(end, ",\"group\":{}", event.group);
  if (event.kind == dataplane::EventKind::kDrops) {
    fmt::format_to(end, ",\"reason\":\"{}\",\"packets\":{},\"first_ps\":{},\"last_ps\":{}",
                   dataplane::name_of(event.reason), event.count, event.first.count_ps(), event.last.count_ps());
  }
  out += '}';
}

void add_event(std::string& out, const ControlNote& note) {
  fmt::format_to(std::back_inserter(out), "{{\"t_ps\":{},\"event\":\"{}\",\"{}\":{}}}", note.at.count_ps(),
                 event_facts()[row_of(note.kind)].name, kControlKeys[static_cast<size_t>(note.kind)],
                 quoted_text(note.what));
}

std::string event_end(dataplane::Instant now, uint64_t lines) {
  return fmt::format("{{\"end_ps\":{},\"lines\":{}}}", now.count_ps(), lines);
}

}  // namespace softspine::control
