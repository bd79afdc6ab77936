// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_collectives.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary/summary_traces.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

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

}  // namespace

std::string collectives_text(const Json& report) {
  if (!report.contains("collectives")) return {};
  control::TextTable table{
      {"<collective", "<op", "ranks", "size", "<algorithm", "<protocol", "done", "time", "algbw", "busbw"}};
  std::string waiting;
  for (const auto& [name, collective] : report["collectives"].items()) {
    add_sizes(table, name, collective);
    waiting += waiting_text(name, collective["waiting"], collective["ranks"]);
  }
  return "\nCollectives (bandwidths as nccl-tests has them)\n" + table.text() + waiting;
}

}  // namespace softspine::tools
