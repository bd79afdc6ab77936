// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_traces.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kWaitingShown = 4;

std::string notes_of(const std::string& name, const Json& trace) {
  std::string out;
  const auto note = [&](const char* key, std::string_view text) {
    if (trace[key] != 0) out += fmt::format("{}: {} {}\n", name, control::grouped(trace[key].get<uint64_t>()), text);
  };
  note("opened_late",
       "operations might have started earlier: with more 'open_operations' the trace is as it was recorded");
  note("messages_longer", "messages are longer than the receives that took them");
  note("messages_unclaimed", "messages have come, and no receive has taken them");
  return out;
}

}  // namespace

std::string waiting_text(const std::string& name, const Json& waiting, const Json& ranks) {
  if (waiting.empty()) return {};
  std::string out = fmt::format("{} has not ended: {} of {} ranks wait\n", name, waiting.size(), ranks.get<uint64_t>());
  for (size_t i = 0; i < std::min(waiting.size(), kWaitingShown); ++i) {
    const Json& each = waiting[i];
    out += fmt::format("  rank {} ({}): {}\n", each["rank"].get<uint64_t>(), each["host"].get<std::string>(),
                       each["for"].get<std::string>());
  }
  if (waiting.size() > kWaitingShown) out += fmt::format("  and {} more\n", waiting.size() - kWaitingShown);
  return out;
}

std::string traces_text(const Json& report) {
  if (!report.contains("traces")) return {};
  control::TextTable table{{"<trace", "ranks", "done", "operations", "done", "messages", "bytes", "ended"}};
  std::string notes;
  for (const auto& [name, trace] : report["traces"].items()) {
    table.add({name, trace["ranks"].dump(), trace["ranks_done"].dump(),
               control::grouped(trace["operations"].get<uint64_t>()),
               control::grouped(trace["operations_done"].get<uint64_t>()),
               control::grouped(trace["messages_received"].get<uint64_t>()),
               control::grouped(trace["received_bytes"].get<uint64_t>()), short_time(trace["ended_ps"])});
    notes += notes_of(name, trace) + waiting_text(name, trace["waiting"], trace["ranks"]);
  }
  return "\nTraces\n" + table.text() + notes;
}

}  // namespace softspine::tools
