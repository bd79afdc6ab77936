// SPDX-License-Identifier: Apache-2.0
#include "control/routing/mixed_routes.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace softspine::control {

namespace {

enum class To : uint8_t { kSubnet, kHost, kSwitch };
struct Destination {
  To to;
  uint32_t index;
};

// A group of the table, kConnected or kNone. A host that has no route of its own goes by its subnet's, as in a switch's
// longest match.
uint32_t route_of(const Fabric& fabric, const RouteTable& table, Destination d) {
  if (d.to == To::kSwitch) return d.index < table.by_switch.size() ? table.by_switch[d.index] : kNone;
  const uint32_t subnet = d.to == To::kSubnet ? d.index : fabric.nodes[d.index].subnet;
  const uint32_t of_subnet = subnet < table.by_subnet.size() ? table.by_subnet[subnet] : kNone;
  const auto own = d.to == To::kHost ? table.by_host.find(d.index) : table.by_host.end();
  if (own == table.by_host.end()) return of_subnet;
  return own->second == kNone && of_subnet != RouteTable::kConnected ? of_subnet : own->second;
}

const std::vector<uint16_t>& ports_of(const RouteTable& table, uint32_t route) {
  static const std::vector<uint16_t> kNoPorts;
  return route == kNone || route == RouteTable::kConnected ? kNoPorts : table.groups[route];
}

// Follows the tables as they are towards one destination.
class Walk {
 public:
  Walk(const Fabric& fabric, const std::vector<RouteTable>& tables)
      : fabric_(fabric), tables_(tables), seen_(tables.size()) {}

  // Whether anything sent out of `node` by one of these ports can come back to it.
  bool comes_back(uint32_t node, const std::vector<uint16_t>& ports, Destination d) {
    ++round_;
    reached_.clear();
    step(node, ports);
    while (!reached_.empty()) {
      const uint32_t at = reached_.back();
      reached_.pop_back();
      if (at == node) return true;
      step(at, ports_of(tables_[at], route_of(fabric_, tables_[at], d)));
    }
    return false;
  }

 private:
  void step(uint32_t from, const std::vector<uint16_t>& ports) {
    for (const uint16_t port : ports) {
      const uint32_t peer = fabric_.peer_of({from, port}).node;
      if (fabric_.nodes[peer].kind != NodeKind::kSwitch || seen_[peer] == round_) continue;
      seen_[peer] = round_;
      reached_.push_back(peer);
    }
  }

  const Fabric& fabric_;
  const std::vector<RouteTable>& tables_;
  std::vector<uint64_t> seen_;  // by node: the round in which it was reached
  uint64_t round_ = 0;
  std::vector<uint32_t> reached_;
};

// Builds one switch's table.
class Mixture {
 public:
  Mixture(const Fabric& fabric, const std::vector<RouteTable>& current, uint32_t node, const RouteTable& wanted)
      : fabric_(fabric), current_(current), node_(node), wanted_(wanted), walk_(fabric, current) {}

  RouteTable make() {
    const RouteTable& now = current_[node_];
    out_.by_subnet.resize(wanted_.by_subnet.size());
    out_.by_switch.resize(wanted_.by_switch.size());
    for (uint32_t s = 0; s < out_.by_subnet.size(); ++s) out_.by_subnet[s] = choose({To::kSubnet, s});
    for (uint32_t n = 0; n < out_.by_switch.size(); ++n) out_.by_switch[n] = choose({To::kSwitch, n});
    std::set<uint32_t> hosts;
    for (const auto& [host, route] : now.by_host) hosts.insert(host);
    for (const auto& [host, route] : wanted_.by_host) hosts.insert(host);
    for (const RouteTable& table : current_) {
      for (const auto& [host, route] : table.by_host) hosts.insert(host);
    }
    for (const uint32_t host : hosts) {
      const uint32_t route = choose({To::kHost, host});
      const auto own = wanted_.by_host.find(host);
      const bool has_none = own != wanted_.by_host.end() && own->second == kNone;
      if (route != out_.by_subnet[fabric_.nodes[host].subnet]) {
        out_.by_host[host] = route;
      } else if (has_none) {
        out_.by_host[host] = kNone;
      }
    }
    if (!differs_) return wanted_;
    return std::move(out_);
  }

 private:
  uint32_t choose(Destination d) {
    const uint32_t wanted = route_of(fabric_, wanted_, d);
    if (wanted == kNone || wanted == RouteTable::kConnected) return wanted;
    const auto& new_ports = wanted_.groups[wanted];
    const RouteTable& table = current_[node_];
    const auto& old_ports = ports_of(table, route_of(fabric_, table, d));
    const bool shrinks = std::ranges::includes(old_ports, new_ports);
    if (shrinks || !walk_.comes_back(node_, new_ports, d)) return group_of(new_ports);
    differs_ = true;
    std::vector<uint16_t> shared;
    std::ranges::set_intersection(old_ports, new_ports, std::back_inserter(shared));
    // A host's packets must not fall back to its subnet's route: a group without members drops them.
    return shared.empty() && d.to != To::kHost ? kNone : group_of(shared);
  }

  uint32_t group_of(const std::vector<uint16_t>& ports) {
    const auto [group, is_new] = groups_.emplace(ports, static_cast<uint32_t>(out_.groups.size()));
    if (is_new) out_.groups.push_back(ports);
    return group->second;
  }

  const Fabric& fabric_;
  const std::vector<RouteTable>& current_;
  uint32_t node_;
  const RouteTable& wanted_;
  Walk walk_;
  RouteTable out_;
  std::map<std::vector<uint16_t>, uint32_t> groups_;
  bool differs_ = false;
};

// Fills the gaps of one switch's table.
class Filling {
 public:
  Filling(const Fabric& fabric, const RouteTable& table, const RouteTable& last_resort)
      : fabric_(fabric), table_(table), last_resort_(last_resort), out_(table) {
    for (uint32_t g = 0; g < table.groups.size(); ++g) groups_.emplace(table.groups[g], g);
  }

  RouteTable make() {
    for (uint32_t s = 0; s < out_.by_subnet.size(); ++s) out_.by_subnet[s] = choose({To::kSubnet, s});
    for (uint32_t n = 0; n < out_.by_switch.size(); ++n) out_.by_switch[n] = choose({To::kSwitch, n});
    for (const auto& [host, route] : last_resort_.by_host) add_host(host);
    for (const auto& [host, route] : table_.by_host) add_host(host);
    return std::move(out_);
  }

 private:
  void add_host(uint32_t host) {
    const uint32_t route = choose({To::kHost, host});
    if (route == out_.by_subnet[fabric_.nodes[host].subnet]) {
      out_.by_host.erase(host);
    } else {
      out_.by_host[host] = route;
    }
  }

  // A host that is not reached from here has no route, and its subnet's is no gap's filling: it would lead to a switch
  // that takes the last resort, and that may lead back.
  uint32_t computed(const RouteTable& table, Destination d) const {
    if (d.to != To::kHost) return route_of(fabric_, table, d);
    const auto own = table.by_host.find(d.index);
    return own == table.by_host.end() ? table.by_subnet[fabric_.nodes[d.index].subnet] : own->second;
  }

  uint32_t choose(Destination d) {
    if (const uint32_t route = computed(table_, d); route != kNone) return route;
    const uint32_t route = computed(last_resort_, d);
    if (route == kNone || route == RouteTable::kConnected) return route;
    const auto& ports = last_resort_.groups[route];
    const auto [group, is_new] = groups_.emplace(ports, static_cast<uint32_t>(out_.groups.size()));
    if (is_new) out_.groups.push_back(ports);
    return group->second;
  }

  const Fabric& fabric_;
  const RouteTable& table_;
  const RouteTable& last_resort_;
  RouteTable out_;
  std::map<std::vector<uint16_t>, uint32_t> groups_;
};

// Whether a destination's ways lead in a circle: depth first, over tables that form no tree.
class LoopSearch {
 public:
  LoopSearch(const Fabric& fabric, const std::vector<RouteTable>& tables) : fabric_(fabric), tables_(tables) {}

  std::vector<uint32_t> find(Destination d) {
    state_.assign(tables_.size(), State::kNew);
    for (uint32_t n = 0; n < tables_.size(); ++n) {
      way_.clear();
      if (fabric_.nodes[n].kind == NodeKind::kSwitch && enters_loop(n, d)) return way_;
    }
    return {};
  }

 private:
  enum class State : uint8_t { kNew, kOnWay, kDone };

  // As deep as a way is long: as many switches as there are.
  bool enters_loop(uint32_t n, Destination d) {
    if (state_[n] != State::kNew) return state_[n] == State::kOnWay;
    state_[n] = State::kOnWay;
    way_.push_back(n);
    for (const uint16_t port : ports_of(tables_[n], route_of(fabric_, tables_[n], d))) {
      const uint32_t peer = fabric_.peer_of({n, port}).node;
      if (fabric_.nodes[peer].kind == NodeKind::kSwitch && enters_loop(peer, d)) return true;
    }
    way_.pop_back();
    state_[n] = State::kDone;
    return false;
  }

  const Fabric& fabric_;
  const std::vector<RouteTable>& tables_;
  std::vector<State> state_;
  std::vector<uint32_t> way_;
};

}  // namespace

RouteTable without_loops(const Fabric& fabric, const std::vector<RouteTable>& current, uint32_t node,
                         const RouteTable& wanted) {
  if (current[node] == wanted) return wanted;
  return Mixture{fabric, current, node, wanted}.make();
}

RouteTable with_last_resort(const Fabric& fabric, const RouteTable& table, const RouteTable& last_resort) {
  if (table == last_resort) return table;
  return Filling{fabric, table, last_resort}.make();
}

std::vector<uint32_t> loop_in(const Fabric& fabric, const std::vector<RouteTable>& tables) {
  LoopSearch search{fabric, tables};
  for (uint32_t s = 0; s < fabric.subnets.size(); ++s) {
    if (auto found = search.find({To::kSubnet, s}); !found.empty()) return found;
  }
  std::set<uint32_t> hosts;
  for (const RouteTable& table : tables) {
    for (const auto& [host, route] : table.by_host) hosts.insert(host);
  }
  for (const uint32_t host : hosts) {
    if (auto found = search.find({To::kHost, host}); !found.empty()) return found;
  }
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (auto found = search.find({To::kSwitch, n}); !found.empty()) return found;
  }
  return {};
}

}  // namespace softspine::control
