// SPDX-License-Identifier: Apache-2.0
// Overrides of a testbed file: names become ports and prefixes, and each must lead where it says. A port that is no
// next hop of a destination's routes is refused: over it packets would arrive late, come back, or not arrive.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "control/load/resolve.hpp"
#include "control/routing/next_hops.hpp"
#include "control/rows/tables.hpp"
#include "control/topology/node_sets.hpp"

namespace softspine::control {
namespace {

using Prefixes = std::vector<std::variant<Ipv4Prefix, Ipv6Prefix>>;

// A row whose names are found.
struct Found {
  const OverrideRow* row = nullptr;
  uint32_t node = 0;
  std::vector<uint16_t> in_ports;
  uint16_t out_port = 0;
  Prefixes to;
  std::set<uint32_t> hosts;  // that `to` has
};

bool holds(const AnyPrefix& prefix, const FabricNode& host) {
  const auto* v4 = std::get_if<Ipv4Prefix>(&prefix);
  return v4 != nullptr ? v4->contains(host.ipv4) : std::get<Ipv6Prefix>(prefix).contains(host.ipv6);
}

class OverrideResolver {
 public:
  OverrideResolver(Reader& reader, NodeFinder& nodes) : reader_(reader), nodes_(nodes), fabric_(nodes.fabric()) {}

  std::vector<Override> resolve(const std::vector<OverrideRow>& rows) {
    for (const OverrideRow& row : rows) {
      if (row.where.kind() == ValueKind::kMap) find(row);
    }
    if (found_.empty()) return {};
    std::vector<bool> subnets(fabric_.subnets.size());
    for (const Found& found : found_) {
      for (const uint32_t host : found.hosts) subnets[fabric_.nodes[host].subnet] = true;
    }
    routes_ = compute_routes_to(fabric_, subnets);
    for (const Found& found : found_) {
      if (leads_there(found)) add(found);
    }
    return std::move(out_);
  }

 private:
  void find(const OverrideRow& row) {
    Found out{.row = &row, .in_ports = {}, .to = {}, .hosts = {}};
    const auto node = nodes_.find(row.at, row.where.child("at"));
    if (!node) return;
    if (fabric_.nodes[*node].kind != NodeKind::kSwitch)
      return void(reader_.fail(row.where.child("at"), row.at + " is no switch"));
    out.node = *node;
    const auto via = ways_of(*node, row.via, row.where.child("via"));
    const bool has_in = find_in_ports(row, out);
    const bool has_to = find_destinations(row, out);
    if (via.empty() || !has_in || !has_to) return;
    if (via.size() > 1) {
      return void(reader_.fail(row.where.child("via"), "is behind " + std::to_string(via.size()) + " ports of " +
                                                           row.at + ": say which, such as " +
                                                           fabric_.name_of_way({*node, via[0]})));
    }
    out.out_port = via[0];
    for (const uint16_t port : fabric_.ports_of_way({*node, via[0]})) std::erase(out.in_ports, port);
    if (out.in_ports.empty()) return void(reader_.fail(row.where.child("via"), "is where these packets come from"));
    found_.push_back(std::move(out));
  }

  bool find_in_ports(const OverrideRow& row, Found& out) {
    if (row.from) {
      out.in_ports = ports_of(out.node, *row.from, row.where.child("from"));
    } else {
      for (uint16_t p = 0; p < fabric_.nodes[out.node].ports.size(); ++p) out.in_ports.push_back(p);
    }
    return !out.in_ports.empty();
  }

  // Next hops: a LAG is one, and its members are none.
  std::vector<uint16_t> ways_of(uint32_t node, const std::string& name, Value where) {
    std::vector<uint16_t> out;
    for (const uint16_t port : ports_of(node, name, where)) {
      const Lag* lag = fabric_.lag_of({node, port});
      if (lag != nullptr && fabric_.port({node, port}).name == name) {
        reader_.fail(where, "is a member of the LAG " + lag->name_at(node) + ": say via: " + lag->name_at(node));
        return {};
      }
      if (fabric_.is_way({node, port})) out.push_back(port);
    }
    return out;
  }

  bool may_be_nodes(const std::string& name) const {
    return NodeSets::is_set(name) || std::ranges::find(fabric_.nodes, name, &FabricNode::name) != fabric_.nodes.end();
  }

  // A port's name, a LAG's, or nodes that are linked to this one.
  std::vector<uint16_t> ports_of(uint32_t node, const std::string& name, Value where) {
    std::vector<std::string_view> known;
    for (const FabricPort& port : fabric_.nodes[node].ports) {
      if (port.name == name) return {static_cast<uint16_t>(known.size())};
      known.push_back(port.name);
    }
    for (const Lag& lag : fabric_.lags) {
      if (std::ranges::find(lag.nodes, node) == lag.nodes.end()) continue;
      if (lag.name == name || lag.name_at(node) == name) return lag.ports_at(node);
      known.push_back(lag.name_at(node));
    }
    const bool is_port = name.starts_with("Ethernet") || name.starts_with("PortChannel");
    const bool has_lag = known.size() > fabric_.nodes[node].ports.size();
    if (is_port || (has_lag && !may_be_nodes(name))) {
      const std::string near = reader_.guess(name, known);
      if (is_port || !near.empty()) {
        reader_.fail(where, fabric_.nodes[node].name + " has no link at " + shown(name) + near);
        return {};
      }
    }
    std::vector<uint16_t> out;
    for (const uint32_t peer : nodes_.find_all(name, where, Among::kNodes)) {
      const auto ports = ports_between(fabric_, node, peer);
      if (ports.empty()) {
        reader_.fail(where, fabric_.nodes[node].name + " has no link to " + fabric_.nodes[peer].name);
        return {};
      }
      out.insert(out.end(), ports.begin(), ports.end());
    }
    return out;
  }

  bool find_destinations(const OverrideRow& row, Found& out) {
    const Value list = row.where.child("to");
    const std::vector<Value> places = list.each();
    for (size_t i = 0; i < row.to.items.size() && i < places.size(); ++i) {
      if (!find_destination(row.to.items[i], places[i], out)) return false;
    }
    if (out.to.empty()) return reader_.fail(list, "names no destination");
    return true;
  }

  bool find_destination(const std::string& name, Value where, Found& out) {
    if (const auto prefix = WordTraits<AnyPrefix>::parse(name)) return add_prefix(*prefix, name, where, out);
    const std::vector<uint32_t> named = nodes_.find_all(name, where, Among::kNodes);
    for (const uint32_t n : named) {
      const FabricNode& node = fabric_.nodes[n];
      if (node.kind == NodeKind::kHost) {
        out.to.emplace_back(host_prefix(node.ipv4));
        out.to.emplace_back(host_prefix(node.ipv6));
        out.hosts.insert(n);
      } else if (!add_subnets_of(n, out)) {
        return reader_.fail(where, node.name + " has no hosts of its own: name hosts, ToRs or a prefix");
      }
    }
    return !named.empty();
  }

  bool add_prefix(const AnyPrefix& prefix, const std::string& name, Value where, Found& out) {
    bool any = false;
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      if (fabric_.nodes[n].kind != NodeKind::kHost || !holds(prefix, fabric_.nodes[n])) continue;
      out.hosts.insert(n);
      any = true;
    }
    if (!any) return nodes_.names_known() && reader_.fail(where, "no host has an address in " + name);
    std::visit([&out](const auto& each) { out.to.emplace_back(each); }, prefix);
    return true;
  }

  bool add_subnets_of(uint32_t node, Found& out) {
    bool any = false;
    for (const Subnet& subnet : fabric_.subnets) {
      if (std::ranges::find(subnet.switches, node) == subnet.switches.end()) continue;
      out.to.emplace_back(subnet.v4);
      out.to.emplace_back(subnet.v6);
      out.hosts.insert(subnet.hosts.begin(), subnet.hosts.end());
      any = any || !subnet.hosts.empty();
    }
    return any;
  }

  bool leads_there(const Found& found) {
    for (const uint32_t host : found.hosts) {
      const std::string& name = fabric_.nodes[host].name;
      if (route_to(fabric_, routes_[found.node], host) == RouteTable::kConnected) {
        return reader_.fail(found.row->where.child("to"),
                            name + " is linked to " + found.row->at + ": there is nothing to choose");
      }
      const auto& ports = ports_to(fabric_, routes_[found.node], host);
      if (std::ranges::find(ports, found.out_port) != ports.end()) continue;
      return reader_.fail(found.row->where.child("via"), why_not(found, host));
    }
    return true;
  }

  std::string why_not(const Found& found, uint32_t host) const {
    const FabricNode& peer = fabric_.nodes[fabric_.peer_of({found.node, found.out_port}).node];
    const std::string to = " to " + fabric_.nodes[host].name;
    if (peer.kind == NodeKind::kHost) return "leads to the host " + peer.name + ", which forwards nothing";
    if (comes_back(found, host)) return "does not lead" + to + ": " + peer.name + " would send it in a circle";
    return "is no next hop of the routes" + to;
  }

  // Whether the routes can lead from there back to the switch.
  bool comes_back(const Found& found, uint32_t host) const {
    std::set<uint32_t> seen;
    std::vector<uint32_t> open{fabric_.peer_of({found.node, found.out_port}).node};
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      if (at == found.node) return true;
      if (fabric_.nodes[at].kind != NodeKind::kSwitch || !seen.insert(at).second) continue;
      for (const uint16_t port : ports_to(fabric_, routes_[at], host)) open.push_back(fabric_.peer_of({at, port}).node);
    }
    return false;
  }

  void add(const Found& found) {
    for (const uint16_t in_port : found.in_ports) {
      for (const auto& to : found.to) {
        const auto [known, is_new] = by_key_.emplace(std::tuple{found.node, in_port, to}, &found);
        if (is_new) {
          out_.push_back({.node = found.node,
                          .in_port = in_port,
                          .out_port = found.out_port,
                          .to = to,
                          .place = place_of(found.row->where)});
        } else if (known->second->out_port != found.out_port) {
          reader_.fail(found.row->where.child("via"), "the override of line " +
                                                          std::to_string(known->second->row->where.at().line) +
                                                          " sends the same packets elsewhere");
          return;
        }
      }
    }
    const auto count = std::ranges::count(out_, found.node, &Override::node);
    if (count > kMaxOverrides) {
      reader_.fail(found.row->where, "makes " + std::to_string(count) + " overrides at " + found.row->at +
                                         ", each port and prefix counted: at most " + std::to_string(kMaxOverrides));
    }
  }

  Reader& reader_;
  NodeFinder& nodes_;
  const Fabric& fabric_;
  std::vector<Found> found_;
  std::vector<RouteTable> routes_;
  std::map<std::tuple<uint32_t, uint16_t, std::variant<Ipv4Prefix, Ipv6Prefix>>, const Found*> by_key_;
  std::vector<Override> out_;
};

}  // namespace

std::vector<Override> resolve_overrides(Reader& reader, const std::vector<OverrideRow>& rows, NodeFinder& nodes) {
  if (rows.empty() || !nodes.names_known()) return {};
  return OverrideResolver(reader, nodes).resolve(rows);
}

std::optional<EngineeringConfig> resolve_engineering(Reader& reader, const std::optional<EngineeringRow>& row,
                                                     const RunConfig& run, NodeFinder& nodes) {
  if (!row || !nodes.names_known()) return std::nullopt;
  EngineeringConfig out{.interval = row->interval,
                        .delay = row->delay,
                        .switches = {},
                        .utilisation = static_cast<double>(row->utilisation.millionths) / 1e6};
  if (row->interval + row->delay >= run.duration && run.is_limited())
    reader.fail(row->where.child("interval"), "is so long that the run ends before the first plan is installed");
  const Fabric& fabric = nodes.fabric();
  if (!row->at) {
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
      if (fabric.nodes[n].role == Role::kTor) out.switches.push_back(n);
    }
    if (out.switches.empty()) reader.fail(row->where, "has no ToR to write to");
    return out;
  }
  const Value list = row->where.child("at");
  const std::vector<Value> places = list.each();
  for (size_t i = 0; i < row->at->items.size() && i < places.size(); ++i) {
    for (const uint32_t n : nodes.find_all(row->at->items[i], places[i], Among::kNodes)) {
      if (fabric.nodes[n].role == Role::kTor) {
        out.switches.push_back(n);
        continue;
      }
      reader.fail(places[i], fabric.nodes[n].name + " is no ToR: hosts' flows are placed where they enter the fabric");
      break;
    }
  }
  std::ranges::sort(out.switches);
  const auto repeated = std::ranges::unique(out.switches);
  out.switches.erase(repeated.begin(), repeated.end());
  return out;
}

}  // namespace softspine::control
