// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/tables_report.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::HeadroomRow;
using control::IgnoredPart;
using control::Json;

namespace {

std::string groups_text(const HeadroomRow& row) {
  const std::string others = row.groups.size() == 1 ? "" : fmt::format(" and {} more", row.groups.size() - 1);
  return row.node + ":" + row.groups.front() + others;
}

}  // namespace

std::string headrooms_text(const std::vector<HeadroomRow>& rows) {
  if (rows.empty()) return {};
  control::TextTable table(
      {"<Profile", "<Buffer profile", "<Groups", "<", "MTU", "xoff", "Exact", "SONiC's xoff", "xon", "size"});
  for (const HeadroomRow& row : rows) {
    table.add({row.profile, row.buffer_profile, groups_text(row), row.added ? "added" : "",
               fmt::format("{} B", row.mtu), control::grouped(row.xoff), control::grouped(row.exact),
               control::grouped(row.sonic.xoff), control::grouped(row.sonic.xon), control::grouped(row.sonic.size)});
  }
  return "headroom in bytes: as configured, by the exact formula, and as SONiC's calculator has it (Spectrum); added: "
         "groups that SONiC's buffermgrd adds:\n" +
         table.text();
}

Json headrooms_json(const std::vector<HeadroomRow>& rows) {
  Json out = Json::array();
  for (const HeadroomRow& row : rows) {
    out.push_back({{"node", row.node},
                   {"profile", row.profile},
                   {"buffer_profile", row.buffer_profile},
                   {"added", row.added},
                   {"groups", row.groups},
                   {"rate_bps", row.rate.count_bps()},
                   {"propagation_ps", row.propagation.count_ps()},
                   {"mtu", row.mtu},
                   {"xoff_bytes", row.xoff},
                   {"exact_bytes", row.exact},
                   {"sonic", {{"xoff", row.sonic.xoff}, {"xon", row.sonic.xon}, {"size", row.sonic.size}}}});
  }
  return out;
}

std::string ignored_text(const std::vector<IgnoredPart>& parts) {
  if (parts.empty()) return {};
  control::TextTable table({"<File", "Line", "<Table", "<What", "Count"});
  for (const IgnoredPart& part : parts) {
    table.add({part.file, std::to_string(part.line), part.table, part.what.empty() ? "all of it" : part.what,
               control::grouped(part.count)});
  }
  return "read over, since nothing here depends on it:\n" + table.text();
}

Json ignored_json(const std::vector<IgnoredPart>& parts) {
  Json out = Json::array();
  for (const IgnoredPart& part : parts) {
    out.push_back({{"file", part.file},
                   {"line", part.line},
                   {"table", part.table},
                   {"what", part.what.empty() ? Json() : Json(part.what)},
                   {"count", part.count}});
  }
  return out;
}

}  // namespace softspine::tools
