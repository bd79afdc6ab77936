// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_slowdowns.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

std::string words_for(const std::string& size) {
  if (size == "all") return "all";
  return size == "more" ? "> 1 MB" : "≤ " + size.substr(0, size.size() - 2) + " " + size.substr(size.size() - 2);
}

}  // namespace

std::string slowdowns_text(const Json& report) {
  control::TextTable table{{"<workload", "size", "flows", "p50", "p95", "p99", "p999", "max"}};
  bool any = false;
  for (const auto& [name, workload] : report["flows"].items()) {
    if (!workload.contains("slowdown")) continue;
    for (const auto& [size, row] : workload["slowdown"].items()) {
      if (row["flows"] == 0) continue;
      any = true;
      std::vector<std::string> cells{name, words_for(size), row["flows"].dump()};
      for (const char* quantile : {"p50", "p95", "p99", "p999", "max"})
        cells.push_back(fmt::format("{:.2f}", number(row[quantile])));
      table.add(std::move(cells));
    }
  }
  return any ? "\nSlowdown (time of a flow, as a multiple of what it would take alone)\n" + table.text() : "";
}

}  // namespace softspine::tools
