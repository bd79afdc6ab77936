// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "control/load/live_fault.hpp"
#include "control/load/qos_change.hpp"
#include "control/load/resolve.hpp"
#include "control/rows/flap_limits.hpp"
#include "control/rows/tables.hpp"
#include "dataplane/units/rng.hpp"

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
  const Fabric& fabric = nodes.fabric();
  for (const Lag& lag : fabric.lags) {
    if (std::ranges::find(lag.nodes, *node) == lag.nodes.end()) continue;
    if (lag.name == end.port || lag.name_at(*node) == end.port) {
      reader.fail(where, shown(end.port) + " is a LAG: name one of its links, such as " +
                             fabric.name_of({*node, lag.ports_at(*node).front()}));
      return std::nullopt;
    }
    known.push_back(lag.name_at(*node));
  }
  if (nodes.names_known()) {
    reader.fail(where, end.node + " has no link at " + shown(end.port) + reader.guess(end.port, known));
  }
  return std::nullopt;
}

std::vector<LinkEnd> all_ports_of(const Fabric& fabric, const std::vector<uint32_t>& nodes) {
  std::vector<LinkEnd> out;
  for (const uint32_t n : nodes) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) out.push_back({n, p});
  }
  return out;
}

// Those of a node that are named: a line card's.
std::vector<LinkEnd> find_card(Reader& reader, NodeFinder& nodes, const FaultRow& row) {
  std::vector<LinkEnd> out;
  const Value list = row.where.child("ports");
  if (!row.node || !nodes.find(*row.node, row.where.child("node"))) return out;
  for (const std::string& name : *row.ports) {
    if (const auto port = find_port(reader, nodes, {*row.node, name}, list)) out.push_back(*port);
  }
  if (row.ports->empty()) reader.fail(list, "names no port");
  return out;
}

// Of every switch of a plane below the core: a plane's own core switches have no other links, and a shared core is no
// plane's.
std::vector<LinkEnd> find_plane(Reader& reader, NodeFinder& nodes, const FaultRow& row) {
  uint32_t planes = 0;
  std::vector<uint32_t> switches;
  for (uint32_t n = 0; n < nodes.fabric().nodes.size(); ++n) {
    const FabricNode& node = nodes.fabric().nodes[n];
    if (node.kind != NodeKind::kSwitch || node.role == Role::kCore) continue;
    planes = std::max(planes, node.plane + 1);
    if (node.plane + 1 == *row.plane) switches.push_back(n);
  }
  if (switches.empty() && nodes.names_known()) {
    reader.fail(row.where.child("plane"),
                "there is no plane " + std::to_string(*row.plane) +
                    (planes <= 1 ? ": the fabric has one" : ": planes are 1 to " + std::to_string(planes)));
  }
  return all_ports_of(nodes.fabric(), switches);
}

// Of a ToR, its hosts, the ToRs that these are linked to, and so on. A server's NICs are in one rack.
std::vector<LinkEnd> find_rack(Reader& reader, NodeFinder& nodes, const FaultRow& row) {
  const Fabric& fabric = nodes.fabric();
  const auto first = nodes.find(*row.rack, row.where.child("rack"));
  if (!first) return {};
  std::multimap<std::string_view, uint32_t> by_server;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == NodeKind::kHost) by_server.emplace(fabric.nodes[n].server, n);
  }
  std::set<uint32_t> rack{*first};
  std::vector<uint32_t> open{*first};
  const auto add = [&](uint32_t n) {
    if (rack.insert(n).second) open.push_back(n);
  };
  while (!open.empty()) {
    const FabricNode& node = fabric.nodes[open.back()];
    const uint32_t at = open.back();
    open.pop_back();
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const uint32_t peer = fabric.peer_of({at, p}).node;
      if (node.kind == NodeKind::kHost || fabric.nodes[peer].kind == NodeKind::kHost) add(peer);
    }
    if (node.kind != NodeKind::kHost || node.server.empty()) continue;
    for (auto [same, end] = by_server.equal_range(node.server); same != end; ++same) add(same->second);
  }
  const bool has_host = std::ranges::any_of(rack, [&](uint32_t n) { return fabric.nodes[n].kind == NodeKind::kHost; });
  if (!has_host) {
    reader.fail(row.where.child("rack"), *row.rack + " has no hosts: a rack is a ToR and its hosts");
    return {};
  }
  return all_ports_of(fabric, {rack.begin(), rack.end()});
}

// The ports that a fault names: one, or all of a node's, a plane's, a rack's.
std::vector<LinkEnd> find_ports(Reader& reader, NodeFinder& nodes, const FaultRow& row) {
  std::vector<LinkEnd> out;
  if (row.plane) return find_plane(reader, nodes, row);
  if (row.rack) return find_rack(reader, nodes, row);
  if (row.ports) return find_card(reader, nodes, row);
  if (row.link) {
    if (const auto port = find_port(reader, nodes, *row.link, row.where.child("link"))) out.push_back(*port);
  } else if (row.node) {
    for (const uint32_t node : nodes.find_all(*row.node, row.where.child("node"), Among::kNodes)) {
      const size_t ports = nodes.fabric().nodes[node].ports.size();
      for (uint16_t p = 0; p < ports; ++p) out.push_back({node, p});
    }
  }
  return out;
}

// The changes of switches' profiles.
std::vector<ProfileChange> find_changes(Reader& reader, NodeFinder& nodes, const FaultRow& row,
                                        const std::vector<Profile>& profiles) {
  const auto found = nodes.find_all(*row.node, row.where.child("node"), Among::kNodes);
  const auto profile = std::ranges::find(profiles, *row.profile, &Profile::name);
  if (profile == profiles.end()) {
    std::vector<std::string_view> known;
    for (const Profile& each : profiles) known.push_back(each.name);
    reader.fail(row.where.child("profile"),
                "there is no profile " + shown(*row.profile) + reader.guess(*row.profile, known));
    return {};
  }
  std::vector<ProfileChange> out;
  for (const uint32_t node : found) {
    if (const auto refused = profile_change_error(profiles, nodes.fabric(), node, *profile); !refused.empty()) {
      reader.fail(row.where.child("profile"), refused);
      return {};
    }
    out.push_back({node, static_cast<uint32_t>(profile - profiles.begin())});
  }
  return out;
}

// A set of nodes can have both ends of a link.
void keep_each_once(auto& list) {
  std::ranges::sort(list);
  const auto repeated = std::ranges::unique(list);
  list.erase(repeated.begin(), repeated.end());
}

Fault link_fault(Reader& reader, const FaultRow& row, NodeFinder& nodes) {
  Fault fault{.at = dataplane::Instant::at(row.at), .links = {}};
  fault.kind = row.set.value_or(FaultKind::kDown);  // none: its table has complained
  fault.carrier_goes = row.carrier == Carrier::kGoes;
  fault.links_after = row.links_after;
  if (row.until) fault.until = dataplane::Instant::at(*row.until);
  for (const LinkEnd port : find_ports(reader, nodes, row)) {
    const LinkEnd peer = nodes.fabric().peer_of(port);
    fault.links.push_back(nodes.fabric().port(port).link);
    if (!row_of(fault.kind).losses.kills_frames) continue;
    if (row.direction != LossyWay::kIn) fault.ports.push_back(port);
    if (row.direction != LossyWay::kOut) fault.ports.push_back(peer);
  }
  keep_each_once(fault.links);
  keep_each_once(fault.ports);
  return fault;
}

// Down and up, so many times. The jitter is drawn for this row alone: another row changes nothing here.
void add_flaps(const Fault& first, const FlapRow& row, uint64_t seed, std::vector<Fault>& out) {
  const uint64_t stream = first.links.empty() ? 0 : first.links.front();
  dataplane::Rng rng{seed, ~(stream << 32) ^ static_cast<uint64_t>(first.at.count_ps())};
  if (row.count > kMaxFlaps || row.period > kMaxFlapPeriod) return;  // its table has complained
  const dataplane::Duration down = row.down.value_or(row.period / 2);
  for (uint32_t i = 0; i < row.count; ++i) {
    const auto late = static_cast<int64_t>(rng.below(static_cast<uint64_t>(row.jitter.count_ps()) + 1));
    Fault flap = first;
    flap.at = first.at + row.period * i + dataplane::Duration::ps(late);
    out.push_back(flap);
    flap.at = flap.at + down;
    flap.kind = FaultKind::kUp;
    out.push_back(std::move(flap));
  }
}

void add_link_faults(Reader& reader, const FaultRow& row, NodeFinder& nodes, Testbed& testbed) {
  if (row.profile && row.node) {
    for (const ProfileChange& change : find_changes(reader, nodes, row, testbed.profiles))
      testbed.faults.push_back({.at = dataplane::Instant::at(row.at), .links = {}, .profile = change});
    return;
  }
  Fault fault = link_fault(reader, row, nodes);
  if (row.flap) return add_flaps(fault, *row.flap, testbed.run.seed, testbed.faults);
  testbed.faults.push_back(std::move(fault));
}

// Bit n: priority n. Nothing if the list is wrong.
std::optional<uint8_t> mask_of(Reader& reader, const FaultRow& row) {
  if (!row.priorities) return row_of(*row.set).priorities;
  const Value list = row.where.child("priorities");
  unsigned mask = 0;
  for (const uint8_t priority : *row.priorities) {
    if (priority > 7) {
      reader.fail(list, "has " + std::to_string(priority) + ": priorities are 0 to 7");
      return std::nullopt;
    }
    mask |= 1U << priority;
  }
  if (mask == 0) reader.fail(list, "names no priority");
  return static_cast<uint8_t>(mask);
}

// Why the node's ports cannot have a fault of this target; empty if they can.
std::string why_not(FaultTarget target, const FabricNode& node) {
  if (node.kind == NodeKind::kSwitch) return "";
  if (target == FaultTarget::kSwitchPort) return node.name + " is not a switch: its ports have no queues to stop";
  if (target != FaultTarget::kPort || is_builtin(node.attachment)) return "";
  return node.name + " is not a built-in host: nobody here can make it fail";
}

std::optional<PortFault> port_fault(Reader& reader, const FaultRow& row, NodeFinder& nodes) {
  PortFault fault{.at = dataplane::Instant::at(row.at)};
  if (row.until) fault.until = dataplane::Instant::at(*row.until);
  const auto mask = mask_of(reader, row);
  if (!mask) return std::nullopt;
  fault.priorities = *mask;
  if (row.drop) fault.lost_millionths = row.drop->millionths;
  if (row.corrupt) fault.damaged_millionths = row.corrupt->millionths;
  const std::vector<LinkEnd> named = find_ports(reader, nodes, row);
  fault.kind = *row.set;
  const FaultTarget target = row_of(fault.kind).target;
  if (target != FaultTarget::kCable) fault.ports = named;
  for (const LinkEnd port : fault.ports) {
    const std::string refused = why_not(target, nodes.fabric().nodes[port.node]);
    if (refused.empty()) continue;
    reader.fail(row.where.child(row.link ? "link" : "node"), refused);
    return std::nullopt;
  }
  if (target == FaultTarget::kPort || target == FaultTarget::kSwitchPort) return fault;
  const LossyWay way = row.direction.value_or(LossyWay::kBoth);
  for (const LinkEnd port : named) {
    if (target == FaultTarget::kCable && way != LossyWay::kIn) fault.ports.push_back(port);
    if (way != LossyWay::kOut) fault.ports.push_back(nodes.fabric().peer_of(port));
  }
  return fault;
}

void add_host_faults(Reader& reader, const FaultRow& row, NodeFinder& nodes, Testbed& testbed) {
  HostFault fault{.at = dataplane::Instant::at(row.at)};
  fault.kind = *row.set;
  if (row.until) fault.until = dataplane::Instant::at(*row.until);
  if (row.drain) fault.drain = *row.drain;
  const auto mask = mask_of(reader, row);
  if (!mask || !row.node) return;  // has been complained about
  fault.priorities = *mask;
  const Value where = row.where.child("node");
  for (const uint32_t node : nodes.find_all(*row.node, where, Among::kHosts)) {
    const FabricNode& found = nodes.fabric().nodes[node];
    if (found.kind != NodeKind::kHost || !is_builtin(found.attachment)) {
      reader.fail(where, found.name + " is not a built-in host: nobody here can make it fail");
      return;
    }
    fault.node = node;
    testbed.host_faults.push_back(fault);
  }
}

// Hosts that fail no longer, of those that can fail.
void clear_hosts(Reader& reader, const FaultRow& row, NodeFinder& nodes, Testbed& testbed) {
  uint32_t last = kNone;  // a node's ports stand together
  for (const LinkEnd port : find_ports(reader, nodes, row)) {
    const FabricNode& found = nodes.fabric().nodes[port.node];
    if (port.node == last || found.kind != NodeKind::kHost || !is_builtin(found.attachment)) continue;
    last = port.node;
    testbed.host_faults.push_back({.at = dataplane::Instant::at(row.at), .node = port.node, .kind = FaultKind::kClear});
  }
}

void resolve_fault(Reader& reader, const FaultRow& row, Testbed& testbed, NodeFinder& nodes) {
  switch (row.set ? row_of(*row.set).target : FaultTarget::kLinks) {
    case FaultTarget::kLinks: return add_link_faults(reader, row, nodes, testbed);
    case FaultTarget::kHost: return add_host_faults(reader, row, nodes, testbed);
    case FaultTarget::kCable:
    case FaultTarget::kPort:
    case FaultTarget::kSwitchPort:
    case FaultTarget::kAnything: break;
  }
  auto fault = port_fault(reader, row, nodes);
  if (!fault) return;
  if (fault->kind == FaultKind::kClear) clear_hosts(reader, row, nodes, testbed);
  testbed.port_faults.push_back(std::move(*fault));
}

}  // namespace

void resolve_faults(Reader& reader, const std::vector<FaultRow>& rows, Testbed& testbed, NodeFinder& nodes) {
  for (const FaultRow& row : rows) {
    if (row.where.kind() != ValueKind::kMap) continue;
    if (row.at >= testbed.run.duration) reader.fail(row.where.child("at"), "never happens: the run ends before");
    resolve_fault(reader, row, testbed, nodes);
  }
  std::ranges::stable_sort(testbed.faults, {}, &Fault::at);
  std::ranges::stable_sort(testbed.host_faults, {}, &HostFault::at);
  std::ranges::stable_sort(testbed.port_faults, {}, &PortFault::at);
}

std::optional<Detection> resolve_detection(const std::optional<DetectionRow>& row) {
  if (!row) return std::nullopt;
  Detection out{.loss_of_signal = row->loss_of_signal, .hellos = {}};
  if (row->bfd) out.hellos = row->bfd->interval * row->bfd->multiplier;
  return out;
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
