// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/snapshot_parts.hpp"

#include <algorithm>
#include <utility>

namespace softspine::testbeds {

namespace {

// Moves the nodes of all parts to `out` by their numbers; returns the place of each.
template <typename Node, typename MoveOne>
std::map<uint32_t, size_t> in_order(std::vector<SnapshotPart>& parts, Node&& nodes_of, MoveOne&& move_one) {
  std::vector<std::pair<uint32_t, std::pair<size_t, size_t>>> all;  // node, part, place in it
  for (size_t p = 0; p < parts.size(); ++p) {
    const std::vector<uint32_t>& nodes = nodes_of(parts[p]);
    for (size_t i = 0; i < nodes.size(); ++i) all.push_back({nodes[i], {p, i}});
  }
  std::ranges::sort(all);
  std::map<uint32_t, size_t> place;
  for (const auto& [node, from] : all) {
    place[node] = place.size();
    move_one(parts[from.first], from.second, node);
  }
  return place;
}

void add_cut_to(dataplane::LinkCounters& to, const CutElsewhere& cut) {
  to.cut_packets += cut.packets;
  to.lost_flow_packets += cut.flow_packets;
}

}  // namespace

void FlowUnderWay::add(const FlowUnderWay& other) {
  packets += other.packets;
  copies += other.copies;
  if (other.before_first) before_first = std::min(*other.before_first, before_first.value_or(*other.before_first));
}

void add_cut(const LocalNodes& nodes, SnapshotPart& part) {
  nodes.for_each_end_elsewhere([&](control::LinkEnd end, const dataplane::Transmitter& sender) {
    const dataplane::LinkCounters& counters = sender.counters();
    if (counters.cut_packets == 0) return;
    const dataplane::PortRef place = nodes.place_of(end);
    part.cut.push_back({.sender = place.node.value(),
                        .port = place.port.value(),
                        .packets = counters.cut_packets,
                        .flow_packets = counters.lost_flow_packets});
  });
}

SnapshotPart join(std::vector<SnapshotPart> parts) {
  SnapshotPart out;
  const auto switches = in_order(
      parts, [](SnapshotPart& part) -> auto& { return part.switch_nodes; },
      [&out](SnapshotPart& from, size_t at, uint32_t) { out.switches.push_back(std::move(from.switches[at])); });
  const auto hosts = in_order(
      parts, [](SnapshotPart& part) -> auto& { return part.host_nodes; },
      [&out](SnapshotPart& from, size_t at, uint32_t) {
        out.hosts.push_back(std::move(from.hosts[at]));
        out.latencies.push_back(std::move(from.latencies[at]));
      });
  const auto edges = in_order(
      parts, [](SnapshotPart& part) -> auto& { return part.edge_nodes; },
      [&out](SnapshotPart& from, size_t at, uint32_t) { out.edges.push_back(std::move(from.edges[at])); });
  for (SnapshotPart& part : parts) {
    for (const auto& [flow, way] : part.under_way) out.under_way[flow].add(way);
    for (const auto& [port, packets] : part.on_way_to) out.on_way_to[port] += packets;
    out.links.resize(part.links.size(), SnapshotPart::kNotHere);
    for (size_t i = 0; i < part.links.size(); ++i) out.links[i] = std::max(out.links[i], part.links[i]);
    for (const CutElsewhere& cut : part.cut) {
      if (const auto at = switches.find(cut.sender); at != switches.end()) {
        add_cut_to(out.switches[at->second].ports[cut.port].link, cut);
      } else if (const auto host = hosts.find(cut.sender); host != hosts.end()) {
        add_cut_to(out.hosts[host->second].ports[cut.port].link, cut);
      } else if (const auto edge = edges.find(cut.sender); edge != edges.end()) {
        add_cut_to(out.edges[edge->second].link, cut);
      }
    }
    out.node_runs += part.node_runs;
    out.lateness_ps.merge(part.lateness_ps);
  }
  return out;
}

}  // namespace softspine::testbeds
