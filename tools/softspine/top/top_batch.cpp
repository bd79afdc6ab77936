// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top/top_batch.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "control/telemetry/json.hpp"

namespace softspine::tools {

using namespace control;

namespace {

Json fill_json(const std::optional<double>& fill) {
  return fill ? Json(*fill) : Json();
}

Json row_json(const PortMap& map, const PressureRow& row, RowKind kind) {
  const MappedPort& port = map.ports[row.port];
  Json out{{"port", port.name},
           {"peer", map.ports[port.peer].name},
           {"rate_bps", port.rate_bps},
           {"up", row.up},
           {"queue", row.lane},
           {"paused", row.paused},
           {"paused_now", row.paused_now},
           {"paused_ps", row.paused_ps},
           {"xoff_raised", row.stopping},
           {"drops_per_second", row.drops_per_s},
           {"dropped", row.dropped},
           {"marks_per_second", row.marks_per_s}};
  if (kind == RowKind::kPorts) {
    out["out"] = row.out;
    out["in"] = row.in;
  }
  out["queue_bytes"] = row.queue_bytes;
  out["queue_fill"] = fill_json(row.queue_fill);
  out["group_bytes"] = row.group_bytes;
  out["group_fill"] = fill_json(row.group_fill);
  return out;
}

uint64_t span_ps(const TopLooks& looks) {
  return looks.now.at_ps - std::min(looks.now.at_ps, looks.before.at_ps);
}

}  // namespace

std::expected<TopLooks, std::string> look_twice(FabricWatch& watch, std::chrono::nanoseconds every) {
  auto first = watch.look();
  if (!first) return std::unexpected(first.error());
  std::this_thread::sleep_for(every);
  auto second = watch.look();
  if (second) return TopLooks{.before = std::move(*first), .now = std::move(*second)};
  TopLooks out{.now = std::move(*first), .is_since_start = true};
  out.before.ports.resize(out.now.ports.size());
  return out;
}

std::string top_text(const PortMap& map, const TopLooks& looks, const TopSettings& settings, size_t most) {
  const TopRows shown = rows_for(map, looks, settings, most);
  std::string out = fmt::format("{}: {:.3f} ms, over {:.3f} ms, by {}, {} of {} {}\n", map.testbed,
                                static_cast<double>(looks.now.at_ps) * 1e-9, static_cast<double>(span_ps(looks)) * 1e-9,
                                word_of(settings.by), shown.rows.size(), shown.all,
                                settings.kind == RowKind::kPorts ? "ports" : "queues");
  for (const ScreenLine& line : pressure_lines(map, shown.rows, settings.kind, 0)) {
    out += line.text.substr(0, line.text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

Json top_json(const PortMap& map, const TopLooks& looks, const TopSettings& settings, size_t most) {
  const TopRows shown = rows_for(map, looks, settings, most);
  Json rows = Json::array();
  for (const PressureRow& row : shown.rows) rows.push_back(row_json(map, row, settings.kind));
  return {{"testbed", map.testbed},     {"at_ps", looks.now.at_ps}, {"over_ps", span_ps(looks)},
          {"by", word_of(settings.by)}, {"of", shown.all},          {"rows", std::move(rows)}};
}

}  // namespace softspine::tools
