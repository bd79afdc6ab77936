// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/config/qos_change.hpp"
#include "control/config/resolve.hpp"

namespace softspine::control {
namespace {

// The link at node:port.
std::optional<uint32_t> find_link(Reader& reader, NodeFinder& nodes, const Endpoint& end, Value where) {
  if (end.port.empty()) return std::nullopt;  // could not be read
  const auto node = nodes.find(end.node, where);
  if (!node) return std::nullopt;
  std::vector<std::string_view> known;
  for (const FabricPort& port : nodes.fabric().nodes[*node].ports) {
    if (port.name == end.port) return port.link;
    known.push_back(port.name);
  }
  if (nodes.names_known()) {
    reader.wrong(where, end.node + " has no link at " + shown(end.port) + reader.guess(end.port, known));
  }
  return std::nullopt;
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
  } else if (row.link) {
    if (const auto link = find_link(reader, nodes, *row.link, row.where.child("link"))) fault.links = {*link};
  } else if (row.node) {
    if (const auto node = nodes.find(*row.node, row.where.child("node"))) {
      for (const FabricPort& port : nodes.fabric().nodes[*node].ports) fault.links.push_back(port.link);
    }
  }
  std::ranges::sort(fault.links);
  return fault;
}

std::optional<HostFault> host_fault(Reader& reader, const FaultRow& row, NodeFinder& nodes) {
  HostFault fault{.at = dataplane::Instant::at(row.at)};
  fault.kind = row.set == FaultState::kStorm ? HostFaultKind::kStorm : HostFaultKind::kSlowReceiver;
  if (row.until) fault.until = dataplane::Instant::at(*row.until);
  if (row.drain) fault.drain = *row.drain;
  if (row.priorities) {
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
    fault.priorities = static_cast<uint8_t>(mask);
  }
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

}  // namespace

void resolve_faults(Reader& reader, const std::vector<FaultRow>& rows, Testbed& testbed, NodeFinder& nodes) {
  for (const FaultRow& row : rows) {
    if (row.where.kind() != ValueKind::kMap) continue;
    if (row.at >= testbed.run.duration) reader.wrong(row.where.child("at"), "never happens: the run ends before");
    if (row.set != FaultState::kStorm && row.set != FaultState::kSlowReceiver) {
      testbed.faults.push_back(link_fault(reader, row, testbed.profiles, nodes));
    } else if (const auto fault = host_fault(reader, row, nodes)) {
      testbed.host_faults.push_back(*fault);
    }
  }
  std::ranges::stable_sort(testbed.faults, {}, &Fault::at);
  std::ranges::stable_sort(testbed.host_faults, {}, &HostFault::at);
}

}  // namespace softspine::control
