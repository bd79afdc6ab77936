// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/flow_path_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::FlowSnapshot;
using control::Json;
using testbeds::FlowPath;

namespace {

// Those of the node, that which has sent most first.
std::vector<uint32_t> wanted_flows(const ShownPaths& shown) {
  const auto& flows = shown.snapshot.flows;
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < flows.size(); ++i) {
    const bool is_of_node = flows[i].source == shown.node || flows[i].destination == shown.node;
    if (shown.node.empty() || is_of_node) out.push_back(i);
  }
  std::ranges::stable_sort(out, std::greater{}, [&](uint32_t i) { return flows[i].sent_bytes; });
  return out;
}

std::string state_of(const FlowSnapshot& flow) {
  if (!flow.stalled.empty()) return flow.stalled;
  if (flow.open_loop ? flow.completion.has_value() : flow.acked.has_value()) return "ended";
  return flow.first_sent.is_never() ? "not begun" : "goes on";
}

Json flow_row(const control::Fabric& fabric, uint32_t number, const FlowSnapshot& flow, const FlowPath& path) {
  Json ports = Json::array();
  for (const control::LinkEnd end : path.ports) ports.push_back(fabric.name_of(end));
  return {{"flow", number},
          {"workload", flow.workload},
          {"source", flow.source},
          {"source_qp", flow.source_qp},
          {"destination", flow.destination},
          {"destination_qp", flow.destination_qp},
          {"source_port", flow.source_port},
          {"sent_bytes", flow.sent_bytes},
          {"received_bytes", flow.received_bytes},
          {"marked_packets", flow.marked},
          {"cnps", flow.reliable.rp_cnp_handled + flow.reliable.rp_cnp_ignored},
          {"retransmitted_packets", flow.reliable.retransmitted_packets},
          {"state", state_of(flow)},
          {"path", std::move(ports)},
          {"is_drawn", path.is_drawn},
          {"end", path.end}};
}

}  // namespace

Json flow_paths_json(ShownPaths shown) {
  const std::vector<uint32_t> wanted = wanted_flows(shown);
  shown.paths.look(std::move(shown.tables), wanted);
  Json rows = Json::array();
  uint64_t followed = 0;
  uint64_t found = 0;
  uint64_t sent_bytes = 0;
  for (const uint32_t flow : wanted) {
    const FlowPath* const path = shown.paths.of(flow);
    if (path == nullptr) continue;
    ++followed;
    if (shown.port && std::ranges::find(path->ports, *shown.port) == path->ports.end()) continue;
    ++found;
    sent_bytes += shown.snapshot.flows[flow].sent_bytes;
    if (rows.size() < shown.most) rows.push_back(flow_row(shown.fabric, flow, shown.snapshot.flows[flow], *path));
  }
  return {{"at_ps", shown.snapshot.instant.count_ps()},
          {"flows", wanted.size()},
          {"followed", followed},
          {"found", found},
          {"sent_bytes", sent_bytes},
          {"rows", std::move(rows)}};
}

std::string flow_paths_text(const Json& shown) {
  control::TextTable table{{"<FROM", "QP", "<TO", "QP", "SENT(bytes)", "CNPS", "<STATE", "<PATH"}};
  for (const Json& row : shown["rows"]) {
    std::string path;
    for (const Json& port : row["path"]) path += (path.empty() ? "" : " ") + port.get<std::string>();
    if (row["is_drawn"].get<bool>()) path += " (drawn)";
    if (row["end"] != "arrives") path += " (" + row["end"].get<std::string>() + ")";
    table.add({row["source"].get<std::string>(), row["source_qp"].dump(), row["destination"].get<std::string>(),
               row["destination_qp"].dump(), control::grouped(row["sent_bytes"].get<uint64_t>()), row["cnps"].dump(),
               row["state"].get<std::string>(), std::move(path)});
  }
  return table.text() +
         fmt::format("{} of {} flows, {} bytes sent", shown["found"].dump(), shown["flows"].dump(),
                     control::grouped(shown["sent_bytes"].get<uint64_t>())) +
         (shown["followed"] == shown["flows"]
              ? "\n"
              : fmt::format("; the ways of {} are not known yet\n",
                            shown["flows"].get<uint64_t>() - shown["followed"].get<uint64_t>()));
}

}  // namespace softspine::tools
