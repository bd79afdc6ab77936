// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kWaitingShown = 4;

std::string gbytes(const Json& bits_per_second) {
  return bits_per_second.is_null() ? "–" : fmt::format("{:.2f} GB/s", number(bits_per_second) / 8e9);
}

void add_sizes(control::TextTable& table, const std::string& name, const Json& collective) {
  for (const auto& [bytes, size] : collective["sizes"].items()) {
    table.add({name, collective["op"].get<std::string>(), collective["ranks"].dump(),
               control::grouped(std::stoull(bytes)), size["algorithm"].get<std::string>(),
               size["protocol"].get<std::string>(), size["done"].dump(), short_time(size["time_ps"]),
               gbytes(size["algbw_bps"]), gbytes(size["busbw_bps"])});
  }
}

std::string waiting_text(const std::string& name, const Json& collective) {
  const Json& waiting = collective["waiting"];
  if (waiting.empty()) return {};
  std::string out =
      fmt::format("{} has not ended: {} of {} ranks wait\n", name, waiting.size(), collective["ranks"].get<uint64_t>());
  for (size_t i = 0; i < std::min(waiting.size(), kWaitingShown); ++i) {
    const Json& each = waiting[i];
    out += fmt::format("  rank {} ({}): {}\n", each["rank"].get<uint64_t>(), each["host"].get<std::string>(),
                       each["for"].get<std::string>());
  }
  if (waiting.size() > kWaitingShown) out += fmt::format("  and {} more\n", waiting.size() - kWaitingShown);
  return out;
}

}  // namespace

std::string collectives_text(const Json& report) {
  if (!report.contains("collectives")) return {};
  control::TextTable table{
      {"<collective", "<op", "ranks", "size", "<algorithm", "<protocol", "done", "time", "algbw", "busbw"}};
  std::string waiting;
  for (const auto& [name, collective] : report["collectives"].items()) {
    add_sizes(table, name, collective);
    waiting += waiting_text(name, collective);
  }
  return "\nCollectives (bandwidths as nccl-tests has them)\n" + table.text() + waiting;
}

}  // namespace softspine::tools
