// SPDX-License-Identifier: Apache-2.0
#include "control/report/fabric_map.hpp"

#include <algorithm>

#include "control/report/snapshot_ports.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/totals.hpp"
#include "dataplane/packet/drop_reason.hpp"

namespace softspine::control {

namespace {

template <typename Pauses, typename Time>
int64_t longest(const Pauses& pauses, const LinkPauseSnapshot& link, Time time) {
  int64_t out = link.time.count_ps();
  for (const auto& each : pauses) out = std::max(out, (each.*time).count_ps());
  return out;
}

PortLoad load_of(const PortSnapshot& port) {
  PortLoad out{.tx_bytes = wire_bytes(port.link),
               .paused_ps = longest(port.pauses, port.link_pause, &PauseSnapshot::time),
               .up = port.up};
  for (size_t q = 0; q < port.counters.queues.size(); ++q) {
    if (port.counters.queues[q].current_bytes <= out.queue_bytes) continue;
    out.queue = q;
    out.queue_bytes = port.counters.queues[q].current_bytes;
  }
  out.drops = dropped_packets(port.counters.drops);
  return out;
}
PortLoad load_of(const HostPortSnapshot& port) {
  return {.tx_bytes = wire_bytes(port.link),
          .paused_ps = longest(port.pause, port.link_pause, &HostPauseSnapshot::paused),
          .up = port.up};
}
PortLoad load_of(const EdgeSnapshot& edge) {
  return {.tx_bytes = wire_bytes(edge.link),
          .paused_ps = longest(edge.pause, edge.link_pause, &HostPauseSnapshot::paused),
          .up = edge.up};
}

Json drops_json_of(const FabricSnapshot& snapshot) {
  std::vector<uint64_t> sums(dataplane::kDropReasons);
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += port.counters.drops[i];
    }
  }
  for (const HostSnapshot& host : snapshot.hosts) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += host.counters.dropped[i];
  }
  Json out = Json::object();
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto reason = static_cast<dataplane::DropReason>(i);
    if (is_loss(reason) && sums[i] > 0) add_key(out, std::string{name_of(reason)}, sums[i]);
  }
  return out;
}

Json threshold(const PortQueue& it, const std::string& kind) {
  return {{"port", it.port},
          {"of", kind + " " + std::to_string(it.number)},
          {"bytes", it.bytes},
          {"marks_from_bytes", nullptr},
          {"marks_all_bytes", nullptr},
          {"xoff_bytes", nullptr}};
}
Json down_of(const std::vector<PortLoad>& loads) {
  Json out = Json::array();
  for (size_t i = 0; i < loads.size(); ++i) {
    if (!loads[i].up) out.push_back(i);
  }
  return out;
}

}  // namespace

Json load_rows(const std::vector<PortLoad>& loads) {
  Json out = Json::array();
  for (size_t i = 0; i < loads.size(); ++i) {
    const PortLoad& of = loads[i];
    if (of.any()) out.push_back({i, of.tx_bytes, of.paused_ps, of.queue, of.queue_bytes, of.drops});
  }
  return out;
}

Json queue_threshold(const PortQueue& queue, uint64_t marks_from_bytes, uint64_t marks_all_bytes) {
  Json out = threshold(queue, "queue");
  out["marks_from_bytes"] = marks_from_bytes;
  out["marks_all_bytes"] = marks_all_bytes;
  return out;
}

Json group_threshold(const PortQueue& group, uint64_t xoff_bytes) {
  Json out = threshold(group, "group");
  out["xoff_bytes"] = xoff_bytes;
  return out;
}

Json map_json(const std::string& testbed, const Fabric& fabric) {
  const PortNumbers numbers{fabric};
  Json nodes = Json::array();
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    Json ports = Json::array();
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const LinkEnd peer = fabric.peer_of({n, p});
      ports.push_back({node.ports[p].name, numbers.of(peer), fabric.links[node.ports[p].link].rate.count_bps()});
    }
    nodes.push_back(Json::array({node.name, tier_of(node.role), std::move(ports)}));
  }
  return {{"testbed", testbed}, {"nodes", std::move(nodes)}};
}

Json loads_json(const Fabric& fabric, const FabricSnapshot& snapshot) {
  const PortNumbers numbers{fabric};
  std::vector<PortLoad> loads(numbers.size());
  each_port(numbers, snapshot, [&loads](uint32_t number, const auto& port) { loads[number] = load_of(port); });
  return {{"at_ps", snapshot.instant.count_ps()},
          {"ports", load_rows(loads)},
          {"down", down_of(loads)},
          {"drops", drops_json_of(snapshot)}};
}

}  // namespace softspine::control
