// SPDX-License-Identifier: Apache-2.0
#include "control/routing/ways.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "control/routing/routes.hpp"

namespace softspine::control {
namespace {

using Hosts = std::vector<uint32_t>;

// The switches that a host's links lead to, ascending.
std::vector<uint32_t> switches_of(const Fabric& fabric, uint32_t host) {
  std::set<uint32_t> out;
  for (uint16_t p = 0; p < fabric.nodes[host].ports.size(); ++p) {
    const uint32_t peer = fabric.peer_of({host, p}).node;
    if (fabric.nodes[peer].kind == NodeKind::kSwitch) out.insert(peer);
  }
  return {out.begin(), out.end()};
}

class WayFinder {
 public:
  WayFinder(const Fabric& fabric, const std::vector<RouteTable>& routes) : fabric_(fabric), routes_(routes) {}

  Ways find(const Demands& demands) {
    for (const Demand& demand : demands) take(demand);
    for (auto& [subnet, starts] : starts_) walk(subnet, std::move(starts));
    std::ranges::sort(out_.senders);
    const auto repeated = std::ranges::unique(out_.senders);
    out_.senders.erase(repeated.begin(), repeated.end());
    return std::move(out_);
  }

 private:
  // Hosts of one subnet behind the same switches fare alike.
  using Group = std::pair<uint32_t, std::vector<uint32_t>>;
  std::map<Group, Hosts> groups_of(const Hosts& hosts) const {
    std::map<Group, Hosts> out;
    for (const uint32_t host : hosts) out[{fabric_.nodes[host].subnet, switches_of(fabric_, host)}].push_back(host);
    return out;
  }

  void take(const Demand& demand) {
    const auto sources = groups_of(demand.from);
    const auto destinations = groups_of(demand.to);
    for (const auto& [from, senders] : sources) {
      for (const auto& [to, receivers] : destinations) {
        const uint64_t same = from == to ? common(senders, receivers) : 0;
        const uint64_t pairs = senders.size() * receivers.size() - same;
        if (pairs != 0) join(from.second, to, senders, receivers, pairs);
      }
    }
  }

  static uint64_t common(const Hosts& a, const Hosts& b) {
    const std::set<uint32_t> known(a.begin(), a.end());
    return static_cast<uint64_t>(std::ranges::count_if(b, [&](uint32_t host) { return known.contains(host); }));
  }

  void join(const std::vector<uint32_t>& switches, const Group& to, const Hosts& senders, const Hosts& receivers,
            uint64_t pairs) {
    if (switches.empty() || to.second.empty()) return join_back_to_back(senders, receivers);
    const uint32_t subnet = to.first;
    const bool reached = std::ranges::all_of(
        switches, [&](uint32_t n) { return subnet != kNone && routes_[n].by_subnet[subnet] != kNone; });
    if (!reached) return cut(senders, receivers, pairs);
    starts_[subnet].insert(switches.begin(), switches.end());
    for (const uint32_t host : senders) leave_by_all_ports(host);
    for (const uint32_t host : receivers) arrive_by_all_ports(host);
  }

  void join_back_to_back(const Hosts& senders, const Hosts& receivers) {
    for (const uint32_t a : senders) {
      for (const uint32_t b : receivers) {
        if (a == b) continue;
        const bool linked = !fabric_.nodes[a].ports.empty() && fabric_.peer_of({a, 0}).node == b;
        if (linked) leave_by_all_ports(a);
        if (!linked) cut({a}, {b}, 1);
      }
    }
  }

  void cut(const Hosts& senders, const Hosts& receivers, uint64_t pairs) {
    out_.cut_pairs += pairs;
    if (!out_.cut) out_.cut = {senders[0], senders[0] != receivers[0] ? receivers[0] : receivers.back()};
  }

  void leave_by_all_ports(uint32_t host) {
    if (!left_.insert(host).second) return;
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) out_.senders.push_back({host, p});
  }
  void arrive_by_all_ports(uint32_t host) {
    if (!arrived_.insert(host).second) return;
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) {
      const LinkEnd peer = fabric_.peer_of({host, p});
      if (fabric_.nodes[peer.node].kind == NodeKind::kSwitch) out_.senders.push_back(peer);
    }
  }

  // Along the routes to one subnet, from all switches that senders are at.
  void walk(uint32_t subnet, std::set<uint32_t> starts) {
    std::vector<uint32_t> reached(starts.begin(), starts.end());
    for (size_t i = 0; i < reached.size(); ++i) {
      const uint32_t n = reached[i];
      const uint32_t route = routes_[n].by_subnet[subnet];
      if (route == kNone || route == RouteTable::kConnected) continue;
      for (const uint16_t port : routes_[n].groups[route]) {
        out_.senders.push_back({n, port});
        const uint32_t next = fabric_.peer_of({n, port}).node;
        if (starts.insert(next).second) reached.push_back(next);
      }
    }
  }

  const Fabric& fabric_;
  const std::vector<RouteTable>& routes_;
  Ways out_;
  std::map<uint32_t, std::set<uint32_t>> starts_;  // by subnet: the switches that packets for it come to first
  std::set<uint32_t> left_;
  std::set<uint32_t> arrived_;
};

}  // namespace

std::vector<Ways> find_ways(const Fabric& fabric, const std::vector<Demands>& all) {
  std::vector<bool> subnets(fabric.subnets.size(), false);
  for (const Demands& demands : all) {
    for (const Demand& demand : demands) {
      for (const uint32_t host : demand.to) {
        const uint32_t subnet = fabric.nodes[host].subnet;
        if (subnet != kNone) subnets[subnet] = true;
      }
    }
  }
  const std::vector<RouteTable> routes = compute_routes_to(fabric, subnets);
  std::vector<Ways> out;
  out.reserve(all.size());
  for (const Demands& demands : all) out.push_back(WayFinder(fabric, routes).find(demands));
  return out;
}

}  // namespace softspine::control
