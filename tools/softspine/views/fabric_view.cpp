// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/fabric_view.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "control/report/notices.hpp"
#include "control/report/report.hpp"
#include "testbeds/run/outside_watch.hpp"

namespace softspine::tools {

using namespace control;

namespace {

Json socket_json(const ServerCounters& counters) {
  return {{"connections", counters.connections.load()},   {"requests", counters.requests.load()},
          {"bad_requests", counters.bad_requests.load()}, {"refused_connections", counters.refused_connections.load()},
          {"timeouts", counters.timeouts.load()},         {"oversize_responses", counters.oversize_responses.load()}};
}

Json web_json(const ServerCounters& counters) {
  return {{"connections", counters.web_connections.load()},
          {"refusals", counters.web_refusals.load()},
          {"event_readers", counters.event_readers.load()},
          {"events_lost", counters.events_lost.load()}};
}

}  // namespace

Json fabric_json(const Shown& shown) {
  const Testbed& testbed = shown.testbed;
  const FabricSnapshot& snapshot = shown.snapshot;
  return {{"name", testbed.name},
          {"process", getpid()},
          {"file", testbed.file},
          {"clock", testbed.run.clock == ClockKind::kWall ? "wall" : "virtual"},
          {"dilation", testbed.run.dilation},
          {"now_ps", snapshot.instant.count_ps()},
          {"lateness_p99_ps", snapshot.engine.lateness_ps.quantile(0.99)},
          {"duration_ps", testbed.run.is_limited() ? Json(testbed.run.duration.count_ps()) : Json()},
          {"switches", snapshot.switches.size()},
          {"hosts", snapshot.hosts.size() + snapshot.edges.size()},
          {"hosts_outside", shown.fabric.part<testbeds::OutsideWatch>().names()},
          {"route_changes", snapshot.route_changes},
          {"control_socket", socket_json(shown.socket)},
          {"web", web_json(shown.socket)},
          {"errors", errors_json(snapshot.errors)},
          {"notices", notices_of(snapshot)}};
}

std::string fabric_text(const Shown& shown) {
  std::string out;
  const Json facts = fabric_json(shown);
  for (const auto& [key, value] : facts.items()) {
    if (value.is_array()) continue;
    out += key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  }
  for (const std::string& notice : notices_of(shown.snapshot)) out += "notice: " + notice + "\n";
  const auto& errors = shown.snapshot.errors;
  out += "errors: " + std::to_string(errors.size()) + "\n";
  for (const RunError& each : errors) {
    out +=
        fmt::format("  {}: {} (at {:.6f} ms, {} times)\n", each.who, each.what, each.first.seconds() * 1e3, each.count);
  }
  return out;
}

}  // namespace softspine::tools
