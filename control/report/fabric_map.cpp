// SPDX-License-Identifier: Apache-2.0
#include "control/report/fabric_map.hpp"

#include <algorithm>
#include <unordered_map>

#include "control/telemetry/json.hpp"
#include "control/telemetry/totals.hpp"
#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::control {

namespace {

// A port's row of `loads`, apart from its number.
struct PortLoad {
  uint64_t tx_bytes = 0;
  int64_t paused_ps = 0;
  size_t queue = 0;
  uint64_t queue_bytes = 0;
  uint64_t drops = 0;
  bool up = true;

  bool any() const { return tx_bytes != 0 || paused_ps != 0 || queue_bytes != 0 || drops != 0; }
};

std::vector<uint32_t> first_ports(const Fabric& fabric) {
  std::vector<uint32_t> first{0};
  for (const FabricNode& node : fabric.nodes) first.push_back(first.back() + static_cast<uint32_t>(node.ports.size()));
  return first;
}

uint64_t wire_bytes(const dataplane::LinkCounters& link) {
  return link.bytes + link.packets * dataplane::kWireOverheadBytes;
}

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

// Rows of ports and the list of those that are down, in the order of numbers.
class LoadRows {
 public:
  explicit LoadRows(const Fabric& fabric) : fabric_(fabric), first_(first_ports(fabric)), loads_(first_.back()) {
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) nodes_[fabric.nodes[n].name] = n;
  }

  template <typename Port>
  void add(const std::string& node, const std::string& name, const Port& port) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return;
    const auto& ports = fabric_.nodes[found->second].ports;
    const auto at = std::ranges::find(ports, name, &FabricPort::name);
    if (at != ports.end()) loads_[first_[found->second] + static_cast<size_t>(at - ports.begin())] = load_of(port);
  }
  Json rows() const {
    Json out = Json::array();
    for (size_t i = 0; i < loads_.size(); ++i) {
      const PortLoad& of = loads_[i];
      if (of.any()) out.push_back({i, of.tx_bytes, of.paused_ps, of.queue, of.queue_bytes, of.drops});
    }
    return out;
  }
  Json down() const {
    Json out = Json::array();
    for (size_t i = 0; i < loads_.size(); ++i) {
      if (!loads_[i].up) out.push_back(i);
    }
    return out;
  }

 private:
  const Fabric& fabric_;
  std::vector<uint32_t> first_;
  std::vector<PortLoad> loads_;
  std::unordered_map<std::string, uint32_t> nodes_;
};

}  // namespace

Json map_json(const std::string& testbed, const Fabric& fabric) {
  const std::vector<uint32_t> first = first_ports(fabric);
  Json nodes = Json::array();
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    Json ports = Json::array();
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const LinkEnd peer = fabric.peer_of({n, p});
      ports.push_back(
          {node.ports[p].name, first[peer.node] + peer.port, fabric.links[node.ports[p].link].rate.count_bps()});
    }
    nodes.push_back(Json::array({node.name, tier_of(node.role), std::move(ports)}));
  }
  return {{"testbed", testbed}, {"nodes", std::move(nodes)}};
}

Json loads_json(const Fabric& fabric, const FabricSnapshot& snapshot) {
  LoadRows rows{fabric};
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) rows.add(node.name, port.name, port);
  }
  for (const HostSnapshot& host : snapshot.hosts) {
    for (const HostPortSnapshot& port : host.ports) rows.add(host.name, port.name, port);
  }
  for (const EdgeSnapshot& edge : snapshot.edges) rows.add(edge.name, edge.port, edge);
  return {{"at_ps", snapshot.instant.count_ps()},
          {"ports", rows.rows()},
          {"down", rows.down()},
          {"drops", drops_json_of(snapshot)}};
}

}  // namespace softspine::control
