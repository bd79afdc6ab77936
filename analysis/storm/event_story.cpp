// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/event_story.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_map>

#include "analysis/storm/storm_report.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kSent = Duration::us(100);  // a frame of 9 KB at 1 Gb/s, and some more
constexpr Duration kBefore = Duration::ms(1);  // an XOFF follows from a fault when buffers have filled
constexpr Duration kAfter = Duration::us(1);   // a fault and its first XOFF have one time
constexpr uint64_t kXoffsOfTen = 9;

// Events that the capture itself shows, or that come with each packet, are left out of the story.
bool is_shown_by_capture(const std::string& kind) {
  static const std::set<std::string> kinds{"xoff_raised", "xoff_cleared", "pause_received", "resume_received",
                                           "pause_lapsed"};
  return kinds.contains(kind);
}

bool may_cause_storms(const std::string& kind) {
  static const std::set<std::string> kinds{"fault",        "link_down",      "link_up",
                                           "route_change", "storm_detected", "storm_restored"};
  return kinds.contains(kind);
}

std::string words_of(const LoggedEvent& event) {
  std::string kind = event.kind;
  std::ranges::replace(kind, '_', ' ');
  std::string out = kind + ": " + event.place;
  if (event.priorities != 0) out += ", " + priorities_text(event.priorities);
  return event.detail.empty() ? out : out + ", " + event.detail;
}

// "h1" is named in "h1 storms" and in "link h1:eth0 down", not in "h12".
bool names(const std::string& text, const std::string& node) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  for (size_t at = text.find(node); at != std::string::npos; at = text.find(node, at + 1)) {
    const size_t end = at + node.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

// By port: its pauses, by begin.
class PausesOfPorts {
 public:
  explicit PausesOfPorts(const PauseLog& log) {
    for (uint32_t i = 0; i < log.ports.size(); ++i) {
      if (log.ports[i].is_captured) ports_.emplace(log.ports[i].name, i);
    }
    by_port_.resize(log.ports.size());
    for (const Pause& it : log.pauses) by_port_[it.from].push_back(&it);
  }
  bool has(const std::string& port) const { return ports_.contains(port); }
  bool has_xoff(const LoggedEvent& event) const {
    const auto& pauses = by_port_[ports_.at(event.place)];
    auto it = std::ranges::upper_bound(pauses, event.at + kSent, {}, [](const Pause* p) { return p->span.begin; });
    while (it != pauses.begin()) {
      const Pause& pause = **--it;
      const bool is_its = pause.priority == kAllPriorities || (event.priorities >> pause.priority & 1) != 0;
      if (is_its) return pause.span.end >= event.at;
    }
    return false;
  }

 private:
  std::unordered_map<std::string, uint32_t> ports_;
  std::vector<std::vector<const Pause*>> by_port_;
};

void add_captured(Story& story, const PauseLog& log, const Analysis& analysis) {
  for (const Storm& storm : analysis.storms) {
    for (const Share& share : storm.spread) {
      story.lines.push_back(
          {.at = share.first,
           .is_captured = true,
           .what = fmt::format(
               "{} pauses {}{}", log.name(share.from), log.name(share.to),
               share.hops == 0
                   ? ", and does not end it"
                   : fmt::format(", {} from {}", share.hops == 1 ? "one hop" : fmt::format("{} hops", share.hops),
                                 log.nodes[storm.root].name)),
           .may_have_caused = {}});
    }
  }
  for (const Cycle& cycle : analysis.deadlocks) {
    story.lines.push_back({.at = cycle.begin,
                           .is_captured = true,
                           .what = "a circle of pauses is closed: " + cycle_text(log, cycle),
                           .may_have_caused = {}});
  }
}

// The number of the storm that the event may have caused: the first that follows it in time.
void look_for_storm(StoryLine& line, const LoggedEvent& event, const PauseLog& log, const Analysis& analysis) {
  for (uint32_t i = 0; i < analysis.storms.size(); ++i) {
    const Storm& storm = analysis.storms[i];
    if (event.at + kBefore < storm.begin || event.at > storm.begin + kAfter) continue;
    const bool is_named = names(event.place, log.nodes[storm.root].name) || names(event.place, log.node_name(storm.to));
    if (line.may_have_caused && !is_named) continue;
    line.may_have_caused = i;
    line.names_its_node = is_named;
    if (is_named) return;
  }
}

}  // namespace

std::string misfit(const EventLog& events, const PauseLog& log, const std::string& testbed, bool is_emulated) {
  if (!testbed.empty() && events.testbed != testbed) {
    return fmt::format("it is of the testbed {}, not of {}", events.testbed, testbed);
  }
  if (!is_emulated) return "the capture has the time of day, and the log has emulated time";
  const PausesOfPorts pauses{log};
  uint64_t xoffs = 0;
  uint64_t found = 0;
  bool is_known = false;
  bool is_beside = events.events.empty();
  for (const LoggedEvent& it : events.events) {
    is_known = is_known || pauses.has(it.place);
    const bool is_within = it.at >= log.begin && it.at + kSent <= log.end;
    is_beside = is_beside || is_within;
    if (it.kind != "xoff_raised" || !is_within || !pauses.has(it.place)) continue;
    ++xoffs;
    found += pauses.has_xoff(it) ? 1 : 0;
  }
  const bool has_ports =
      std::ranges::any_of(events.events, [](const LoggedEvent& it) { return it.kind == "xoff_raised"; });
  if (!is_beside) return "none of its events is within the time of the capture";
  if (has_ports && !is_known) return "none of its ports is in the capture";
  if (found * 10 < xoffs * kXoffsOfTen) {
    return fmt::format("{} of the {} XOFFs that it has at captured ports are not in the capture",
                       control::grouped(xoffs - found), control::grouped(xoffs));
  }
  return "";
}

Story tell(const EventLog& events, const PauseLog& log, const Analysis& analysis, const std::string& testbed,
           bool is_emulated) {
  Story out{.file = events.file, .misfit = misfit(events, log, testbed, is_emulated), .lines = {}, .notes = {}};
  if (!out.misfit.empty()) return out;
  if (!events.is_whole) out.notes.push_back(events.file + ": its last line is missing: it was cut off");
  if (events.lost > 0)
    out.notes.push_back(fmt::format("{}: {} events are missing: it says so", events.file, events.lost));
  if (events.left_out > 0) {
    out.notes.push_back(fmt::format("{}: {} events are beyond what can be told", events.file, events.left_out));
  }
  add_captured(out, log, analysis);
  for (const LoggedEvent& event : events.events) {
    if (is_shown_by_capture(event.kind)) continue;
    StoryLine line{.at = event.at, .what = words_of(event), .may_have_caused = {}};
    if (may_cause_storms(event.kind)) look_for_storm(line, event, log, analysis);
    out.lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(out.lines, {}, [](const StoryLine& it) { return std::pair{it.at, it.is_captured}; });
  return out;
}

}  // namespace softspine::analysis::storm
