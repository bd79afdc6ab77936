// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/threshold_report.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;
using control::Thresholds;

namespace {

std::string count_text(const std::optional<uint64_t>& count) {
  return count ? control::grouped(*count) : "never";
}

std::string why_text(const Thresholds& it) {
  return it.first_drop ? std::string(dataplane::name_of(it.reason)) : "";
}

std::string ports_text(const Thresholds& it) {
  const std::string others = it.ports.size() == 1 ? "" : fmt::format(" and {} more", it.ports.size() - 1);
  return it.node + ":" + it.ports.front() + others;
}

}  // namespace

std::string thresholds_text(const std::vector<Thresholds>& all) {
  if (all.empty()) return {};
  control::TextTable table(
      {"<Profile", "<For", "<Buffer profile", "<Ports", "Cell", "XOFF at", "XON after", "First drop", "<Why"});
  for (const Thresholds& it : all) {
    table.add({it.profile, fmt::format("{}{}", it.lossless ? "PG" : "queue ", it.number), it.buffer_profile,
               ports_text(it), fmt::format("{} B", it.cell_bytes), it.lossless ? count_text(it.xoff) : "-",
               it.lossless ? count_text(it.xon_after) : "-", count_text(it.first_drop), why_text(it)});
  }
  return "thresholds, in frames of one cell to a port that sends nothing, the rest of the switch being empty:\n" +
         table.text();
}

Json thresholds_json(const std::vector<Thresholds>& all) {
  const auto number = [](const std::optional<uint64_t>& count) { return count ? Json(*count) : Json(); };
  Json out = Json::array();
  for (const Thresholds& it : all) {
    out.push_back({{"node", it.node},
                   {"profile", it.profile},
                   {"ports", it.ports},
                   {it.lossless ? "priority_group" : "queue", it.number},
                   {"buffer_profile", it.buffer_profile},
                   {"lossless", it.lossless},
                   {"cell_bytes", it.cell_bytes},
                   {"reserved_cells", it.reserved_cells},
                   {"xoff_cells", number(it.xoff)},
                   {"xon_after_cells", number(it.xon_after)},
                   {"first_drop_cells", number(it.first_drop)},
                   {"drop_reason", it.first_drop ? Json(dataplane::name_of(it.reason)) : Json()},
                   {"headroom_pool_cells", it.headroom_pool_cells}});
  }
  return out;
}

}  // namespace softspine::tools
