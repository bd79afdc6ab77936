// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/stalled_flows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace softspine::testbeds {

using control::FabricNode;
using control::LinkEnd;
using control::NodeKind;
using control::RouteTable;

void StalledFlows::snapshot(control::FabricSnapshot& out) {
  const bool is_over = engine_.next_event().is_never();
  for (size_t i = 0; i < out.flows.size(); ++i) out.flows[i].stalled = why_stalled(i, out.flows[i], is_over);
}

std::string StalledFlows::why_stalled(size_t index, const control::FlowSnapshot& flow, bool is_over) const {
  const auto& source = flows_.source(index);
  if (!source) return {};
  const PlannedFlow& plan = flows_.plan(index);
  const SenderState state = source->state();
  const FlowSent& sent = source->sent();
  const uint64_t done = state.is_open_loop ? sent.messages : sent.reliable.completed_messages;
  if (plan.flow.messages != 0 && done == plan.flow.messages) return {};
  if (state.has_failed) return fmt::format("given up after {} timeouts in a row", state.timeouts_in_a_row + 1);
  const std::string way = why_no_way(plan, state);
  if (!way.empty()) return way;
  return state.waits_for_ever && flow.under_way == 0 && is_over ? "its packets were lost and ack_timeout is 0" : "";
}

// Its host's bond has not looked yet, and another port has a link.
bool StalledFlows::moves_from(LinkEnd port, const SenderState& state) const {
  if (!state.leaves_port) return false;
  const auto ports = static_cast<uint16_t>(fabric_.nodes[port.node].ports.size());
  for (uint16_t p = 0; p < ports; ++p) {
    if (has_link({port.node, p})) return true;
  }
  return false;
}

std::string StalledFlows::why_no_way(const PlannedFlow& plan, const SenderState& state) const {
  const LinkEnd port{plan.source, state.port.value()};
  if (!has_link(port)) return moves_from(port, state) ? "" : fabric_.name_of(port) + " has no link";
  const FabricNode& destination = fabric_.nodes[plan.destination];
  bool is_linked = false;
  for (uint16_t p = 0; p < destination.ports.size(); ++p) is_linked |= has_link({plan.destination, p});
  if (!is_linked) return destination.name + " has no link";
  const uint32_t before = fabric_.peer_of(port).node;
  if (fabric_.nodes[before].kind != NodeKind::kSwitch || destination.subnet == control::kNone) return {};
  return has_route(links_.routes(before), plan.destination)
             ? ""
             : fabric_.nodes[before].name + " has no route to " + destination.name;
}

bool StalledFlows::has_route(const RouteTable& routes, uint32_t host) const {
  const auto own = routes.by_host.find(host);
  const uint32_t route = own != routes.by_host.end() ? own->second : routes.by_subnet[fabric_.nodes[host].subnet];
  return route == RouteTable::kConnected || (route != control::kNone && !routes.groups[route].empty());
}

}  // namespace softspine::testbeds
