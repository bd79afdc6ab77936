// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/load/live_fault.hpp"
#include "control/load/qos_change.hpp"
#include "control/load/resolve.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {
namespace {

// The port node:port.
std::optional<LinkEnd> find_port(Reader& reader, NodeFinder& nodes, const Endpoint& end, Value where) {
  if (end.port.empty()) return std::nullopt;  // could not be read
  const auto node = nodes.find(end.node, where);
  if (!node) return std::nullopt;
  std::vector<std::string_view> known;
  for (const FabricPort& port : nodes.fabric().nodes[*node].ports) {
    if (port.name == end.port) return LinkEnd{*node, static_cast<uint16_t>(known.size())};
    known.push_back(port.name);
  }
  if (nodes.names_known()) {
    reader.wrong(where, end.node + " has no link at " + shown(end.port) + reader.guess(end.port, known));
  }
  return std::nullopt;
}

// The ports that a fault names: one, or all of a node's.
std::vector<LinkEnd> find_ports(Reader& reader, NodeFinder& nodes, const FaultRow& row) {
  std::vector<LinkEnd> out;
  if (row.link) {
    if (const auto port = find_port(reader, nodes, *row.link, row.where.child("link"))) out.push_back(*port);
  } else if (row.node) {
    if (const auto node = nodes.find(*row.node, row.where.child("node"))) {
      const size_t ports = nodes.fabric().nodes[*node].ports.size();
      for (uint16_t p = 0; p < ports; ++p) out.push_back({*node, p});
    }
  }
  return out;
}

// The change of a switch's profile.
std::optional<ProfileChange> find_change(Reader& reader, NodeFinder& nodes, const FaultRow& row,
                                         const std::vector<Profile>& profiles) {
  const auto node = nodes.find(*row.node, row.where.child("node"));
  const auto profile = std::ranges::find(profiles, *row.profile, &Profile::name);
  if (profile == profiles.end()) {
    std::vector<std::string_view> known;
    for (const Profile& each : profiles) known.push_back(each.name);
    reader.wrong(row.where.child("profile"),
                 "there is no profile " + shown(*row.profile) + reader.guess(*row.profile, known));
  }
  if (!node || profile == profiles.end()) return std::nullopt;
  if (const auto refused = why_not_change(profiles, nodes.fabric(), *node, *profile); !refused.empty()) {
    reader.wrong(row.where.child("profile"), refused);
    return std::nullopt;
  }
  return ProfileChange{*node, static_cast<uint32_t>(profile - profiles.begin())};
}

Fault link_fault(Reader& reader, const FaultRow& row, const std::vector<Profile>& profiles, NodeFinder& nodes) {
  Fault fault{.at = dataplane::Instant::at(row.at), .links = {}, .up = row.set == FaultState::kUp, .profile = {}};
  if (row.profile && row.node) {
    fault.profile = find_change(reader, nodes, row, profiles);
    return fault;
  }
  for (const LinkEnd port : find_ports(reader, nodes, row)) fault.links.push_back(nodes.fabric().port(port).link);
  std::ranges::sort(fault.links);
  return fault;
}

// Bit n: priority n. Nothing if the list is wrong.
std::optional<uint8_t> mask_of(Reader& reader, const FaultRow& row, uint8_t if_not_given) {
  if (!row.priorities) return if_not_given;
  const Value list = row.where.child("priorities");
  unsigned mask = 0;
  for (const uint8_t priority : *row.priorities) {
    if (priority > 7) {
      reader.wrong(list, "has " + std::to_string(priority) + ": priorities are 0 to 7");
      return std::nullopt;
    }
    mask |= 1U << priority;
  }
  if (mask == 0) reader.wrong(list, "names no priority");
  return static_cast<uint8_t>(mask);
}

PortFaultKind kind_of(FaultState set) {
  if (set == FaultState::kDeaf) return PortFaultKind::kDeaf;
  if (set == FaultState::kTxDisabled) return PortFaultKind::kTxDisabled;
  return set == FaultState::kLossy ? PortFaultKind::kLossy : PortFaultKind::kClear;
}

// Why the node's ports cannot have this fault; empty if they can.
std::string why_not(PortFaultKind kind, const FabricNode& node) {
  if (node.kind == NodeKind::kSwitch) return "";
  if (kind == PortFaultKind::kTxDisabled) return node.name + " is not a switch: its ports have no queues to stop";
  if (kind != PortFaultKind::kDeaf || is_builtin(node.attachment)) return "";
  return node.name + " is not a built-in host: nobody here can make it fail";
}

std::optional<PortFault> port_fault(Reader& reader, const FaultRow& row, NodeFinder& nodes) {
  PortFault fault{.at = dataplane::Instant::at(row.at)};
  if (row.until) fault.until = dataplane::Instant::at(*row.until);
  const auto mask = mask_of(reader, row, 0xff);
  if (!mask) return std::nullopt;
  fault.priorities = *mask;
  if (row.drop) fault.lost_millionths = row.drop->millionths;
  if (row.corrupt) fault.damaged_millionths = row.corrupt->millionths;
  const std::vector<LinkEnd> named = find_ports(reader, nodes, row);
  fault.kind = kind_of(*row.set);
  if (fault.kind != PortFaultKind::kLossy) fault.ports = named;
  for (const LinkEnd port : fault.ports) {
    const std::string refused = why_not(fault.kind, nodes.fabric().nodes[port.node]);
    if (refused.empty()) continue;
    reader.wrong(row.where.child(row.link ? "link" : "node"), refused);
    return std::nullopt;
  }
  if (fault.kind == PortFaultKind::kDeaf || fault.kind == PortFaultKind::kTxDisabled) return fault;
  const LossyWay way = row.direction.value_or(LossyWay::kBoth);
  for (const LinkEnd port : named) {
    if (fault.kind == PortFaultKind::kLossy && way != LossyWay::kIn) fault.ports.push_back(port);
    if (way != LossyWay::kOut) fault.ports.push_back(nodes.fabric().peer_of(port));
  }
  return fault;
}

std::optional<HostFault> host_fault(Reader& reader, const FaultRow& row, NodeFinder& nodes) {
  HostFault fault{.at = dataplane::Instant::at(row.at)};
  fault.kind = row.set == FaultState::kStorm ? HostFaultKind::kStorm : HostFaultKind::kSlowReceiver;
  if (row.until) fault.until = dataplane::Instant::at(*row.until);
  if (row.drain) fault.drain = *row.drain;
  const auto mask = mask_of(reader, row, fault.priorities);
  if (!mask) return std::nullopt;
  fault.priorities = *mask;
  if (!row.node) return std::nullopt;  // has been complained about
  const Value where = row.where.child("node");
  const auto node = nodes.find(*row.node, where);
  if (!node) return std::nullopt;
  const FabricNode& found = nodes.fabric().nodes[*node];
  if (found.kind != NodeKind::kHost || !is_builtin(found.attachment)) {
    reader.wrong(where, *row.node + " is not a built-in host: nobody here can make it fail");
    return std::nullopt;
  }
  fault.node = *node;
  return fault;
}

// A host that fails no longer, if it is a host that can fail.
std::optional<HostFault> host_is_well(const FaultRow& row, const NodeFinder& nodes, const std::vector<LinkEnd>& ports) {
  if (ports.empty()) return std::nullopt;
  const uint32_t node = ports[0].node;
  const FabricNode& found = nodes.fabric().nodes[node];
  if (found.kind != NodeKind::kHost || !is_builtin(found.attachment)) return std::nullopt;
  return HostFault{.at = dataplane::Instant::at(row.at), .node = node, .kind = HostFaultKind::kClear};
}

void resolve_fault(Reader& reader, const FaultRow& row, Testbed& testbed, NodeFinder& nodes) {
  switch (row.set.value_or(FaultState::kDown)) {
    case FaultState::kDown:
    case FaultState::kUp: testbed.faults.push_back(link_fault(reader, row, testbed.profiles, nodes)); break;
    case FaultState::kStorm:
    case FaultState::kSlowReceiver:
      if (const auto fault = host_fault(reader, row, nodes)) testbed.host_faults.push_back(*fault);
      break;
    case FaultState::kLossy:
    case FaultState::kDeaf:
    case FaultState::kTxDisabled:
    case FaultState::kClear:
      if (auto fault = port_fault(reader, row, nodes)) {
        if (fault->kind == PortFaultKind::kClear) {
          if (const auto host = host_is_well(row, nodes, fault->ports)) testbed.host_faults.push_back(*host);
        }
        testbed.port_faults.push_back(std::move(*fault));
      }
      break;
  }
}

}  // namespace

void resolve_faults(Reader& reader, const std::vector<FaultRow>& rows, Testbed& testbed, NodeFinder& nodes) {
  for (const FaultRow& row : rows) {
    if (row.where.kind() != ValueKind::kMap) continue;
    if (row.at >= testbed.run.duration) reader.wrong(row.where.child("at"), "never happens: the run ends before");
    resolve_fault(reader, row, testbed, nodes);
  }
  std::ranges::stable_sort(testbed.faults, {}, &Fault::at);
  std::ranges::stable_sort(testbed.host_faults, {}, &HostFault::at);
  std::ranges::stable_sort(testbed.port_faults, {}, &PortFault::at);
}

std::expected<LiveFault, Errors> parse_live_fault(std::string_view text, const Testbed& testbed) {
  Reader reader;
  const Value root = reader.open(text, "");
  FaultRow row;
  if (reader.log().count() != 0 || !Format<FaultRow>::read(reader, root, row)) return std::unexpected(reader.finish());
  Testbed scratch{.run = testbed.run, .profiles = testbed.profiles};
  const Expanded expanded{.fabric = testbed.fabric, .rows = {}};
  NodeFinder nodes(reader, expanded);
  resolve_fault(reader, row, scratch, nodes);
  if (Errors errors = reader.finish(); !errors.empty()) return std::unexpected(std::move(errors));
  return LiveFault{std::move(scratch.faults), std::move(scratch.host_faults), std::move(scratch.port_faults)};
}

}  // namespace softspine::control
