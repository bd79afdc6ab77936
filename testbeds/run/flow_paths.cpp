// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/flow_paths.hpp"

#include <algorithm>

#include "analysis/explain/probe.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::testbeds {

using analysis::PathEnd;
using control::LinkEnd;
using control::NodeKind;

PathTables path_tables(const LocalNodes& nodes, LinkControl& links, const RunFlows& flows) {
  PathTables out{.states = {}, .up = {}, .host_ports = flows.host_ports()};
  if (!nodes.ranks().is_first()) return {};
  out.states = links.tables();
  for (uint32_t i = 0; i < links.count(); ++i) out.up.push_back(links.up(i));
  return out;
}

uint32_t FlowPaths::look(PathTables tables, std::span<const uint32_t> wanted) {
  if (!walker_ || tables != tables_) {
    tables_ = std::move(tables);
    walker_.emplace(testbed_, tables_.states, tables_.up);
    paths_.assign(flows_.size(), std::nullopt);
    ports_ = 0;
  }
  steps_ = 0;
  for (const uint32_t flow : wanted) {
    if (steps_ >= kStepsOfLook || ports_ >= kMostPorts) return steps_;
    if (paths_[flow]) continue;
    paths_[flow] = walk(flows_.plan(flow), tables_.host_ports[flow]);
    ports_ += paths_[flow]->ports.size();
  }
  return steps_;
}

// That packets sent by this port go to; none: a host's.
dataplane::MacAddress FlowPaths::gateway_at(LinkEnd end) const {
  const uint32_t peer = testbed_.fabric.peer_of(end).node;
  if (testbed_.fabric.nodes[peer].kind == NodeKind::kHost) return {};
  return tables_.states[peer]->router_mac;
}

FlowPath FlowPaths::walk(const PlannedFlow& plan, uint16_t host_port) {
  FlowPath out;
  if (plan.source == plan.destination) return out;
  const analysis::Probe probe{.from = plan.source,
                              .to = plan.destination,
                              .port = host_port,
                              .source_port = plan.flow.source_port,
                              .qp = plan.flow.destination_qp};
  const LinkEnd sender{plan.source, host_port};
  std::vector<Place> places{{sender, frame_of(testbed_.fabric, probe, gateway_at(sender))}};
  out.ports.push_back(sender);
  while (!places.empty()) {
    std::vector<Place> next;
    for (const Place& place : places) walk_on(place, next, out);
    places = std::move(next);
  }
  if (out.end.empty()) out.end = end_in_words(PathEnd::kHost, dataplane::DropReason::kCount);
  return out;
}

// The switch behind the place, and every port by which packets may leave it. A port that has been met before is not
// followed again: so this ends, in circles, too.
void FlowPaths::walk_on(const Place& place, std::vector<Place>& next, FlowPath& out) {
  const control::Fabric& fabric = testbed_.fabric;
  const auto ends = [&](PathEnd how, dataplane::DropReason why) {
    if (out.end.empty()) out.end = end_in_words(how, why);
  };
  if (!tables_.up[fabric.port(place.from).link]) return ends(PathEnd::kLinkDown, dataplane::DropReason::kCount);
  const LinkEnd at = fabric.peer_of(place.from);
  if (fabric.nodes[at.node].kind == NodeKind::kHost) return;
  ++steps_;
  dataplane::Packet& packet = scratch_.load(place.frame, static_cast<uint32_t>(place.frame.size()));
  const analysis::Walker::Step made = walker_->step(at.node, at.port, packet);
  if (!made.hop) return ends(made.end, made.reason);
  out.is_drawn = out.is_drawn || made.hop->candidates.size() > 1;
  const std::vector<uint8_t> frame(packet.data(), packet.data() + packet.stored_bytes());
  for (const uint16_t port : made.hop->candidates) {
    const LinkEnd left{at.node, port};
    if (std::ranges::find(out.ports, left) != out.ports.end()) continue;
    out.ports.push_back(left);
    Place& after = next.emplace_back(left, frame);
    if (port == made.hop->out_port) continue;  // it is addressed to the next hop
    const dataplane::MacAddress gateway = gateway_at(left);
    std::ranges::copy(gateway, after.frame.begin());
  }
}

}  // namespace softspine::testbeds
