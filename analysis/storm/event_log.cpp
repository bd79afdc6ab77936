// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analysis/storm/event_story.hpp"
#include "analysis/storm/text_lines.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis::storm {

using control::Json;
using dataplane::Instant;

namespace {

std::string text_of(const Json& line, const char* key) {
  const auto it = line.find(key);
  return it != line.end() && it->is_string() ? it->get<std::string>() : "";
}

int64_t number_of(const Json& line, const char* key) {
  const auto it = line.find(key);
  return it != line.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

// A time of 50 days and more is nobody's.
bool has_time(const Json& line) {
  constexpr int64_t kMax = dataplane::Duration::s(50LL * 24 * 3600).count_ps();
  const auto it = line.find("t_ps");
  return it != line.end() && it->is_number_integer() && it->get<int64_t>() >= 0 && it->get<int64_t>() <= kMax;
}

LoggedEvent event_of(const Json& line) {
  LoggedEvent out{.at = Instant::at_ps(number_of(line, "t_ps")), .kind = text_of(line, "event"), .place = ""};
  for (const char* key : {"port", "switch", "what", "circle"}) {
    if (out.place.empty()) out.place = text_of(line, key);
  }
  if (const auto priorities = line.find("priorities"); priorities != line.end() && priorities->is_array()) {
    for (const Json& it : *priorities) {
      if (it.is_number_unsigned() && it.get<uint64_t>() < kAllPriorities) {
        out.priorities |= static_cast<uint16_t>(1U << it.get<uint64_t>());
      }
    }
  }
  if (out.kind == "drops")
    out.detail = fmt::format("{} packets, {}", number_of(line, "packets"), text_of(line, "reason"));
  return out;
}

// Returns the error of a line; empty: none.
std::string take(EventLog& log, int number, const std::string& text) {
  const Json line = Json::parse(text, nullptr, false);
  if (!line.is_object()) return "is no line of an event log: a JSON object is needed";
  if (number == 1) {
    log.testbed = text_of(line, "testbed");
    if (number_of(line, "events") == 1) return "";
    return line.contains("series") ? "counters over time, not an event log"
                                   : "is no event log: its first line has no \"events\": 1";
  }
  if (log.is_whole) return "stands behind the log's last line";
  if (line.contains("end_ps")) {
    log.is_whole = true;
    log.lost = static_cast<uint64_t>(std::max<int64_t>(0, number_of(line, "lost")));
    return "";
  }
  if (!has_time(line) || text_of(line, "event").empty()) return "has no \"t_ps\" and \"event\"";
  if (log.events.size() >= EventLog::kMaxEvents) {
    ++log.left_out;
  } else {
    log.events.push_back(event_of(line));
  }
  return "";
}

}  // namespace

std::expected<EventLog, std::string> read_event_log(const std::string& path) {
  auto lines = TextLines::open(path, "an event log");
  if (!lines) return std::unexpected(lines.error());
  EventLog log{.file = path, .testbed = "", .events = {}};
  std::string line;
  while (lines->next(line)) {
    const std::string wrong = take(log, lines->number(), line);
    if (wrong.empty()) continue;
    if (lines->is_cut() && lines->number() > 1) break;  // the writer was stopped within it
    return std::unexpected(fmt::format("{}:{}: {}", path, lines->number(), wrong));
  }
  if (!lines->error().empty()) return std::unexpected(lines->error());
  if (lines->number() == 0) return std::unexpected(path + ": is empty, not an event log");
  return log;
}

}  // namespace softspine::analysis::storm
