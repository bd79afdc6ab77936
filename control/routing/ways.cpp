// SPDX-License-Identifier: Apache-2.0
#include "control/routing/ways.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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
  WayFinder(const Fabric& fabric, const std::vector<RouteTable>& routes)
      : fabric_(fabric), routes_(routes), reached_for_(fabric.nodes.size(), kNone), is_sender_(fabric.nodes.size()) {}

  Ways find(const Demands& demands) {
    for (const Demand& demand : demands) take(demand);
    for (const auto& [subnet, starts] : starts_) walk(subnet, starts);
    std::ranges::sort(out_.senders);
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
    std::vector<bool> arrives(destinations.size());
    for (const auto& [from, senders] : sources) {
      bool leaves = false;
      size_t number = 0;
      for (const auto& [to, receivers] : destinations) {
        const uint64_t same = from == to ? common(senders, receivers) : 0;
        const uint64_t pairs = senders.size() * receivers.size() - same;
        if (pairs != 0 && join(from.second, to, senders, receivers, pairs)) leaves = arrives[number] = true;
        ++number;
      }
      for (const uint32_t host : leaves ? senders : Hosts{}) leave_by_all_ports(host);
    }
    size_t number = 0;
    for (const auto& [to, receivers] : destinations) {
      for (const uint32_t host : arrives[number] ? receivers : Hosts{}) arrive_by_all_ports(host);
      ++number;
    }
  }

  static uint64_t common(const Hosts& a, const Hosts& b) {
    const std::set<uint32_t> known(a.begin(), a.end());
    return static_cast<uint64_t>(std::ranges::count_if(b, [&](uint32_t host) { return known.contains(host); }));
  }

  // Whether they reach each other over switches.
  bool join(const std::vector<uint32_t>& switches, const Group& to, const Hosts& senders, const Hosts& receivers,
            uint64_t pairs) {
    if (switches.empty() || to.second.empty()) {
      join_back_to_back(senders, receivers);
      return false;
    }
    const uint32_t subnet = to.first;
    const bool reached = std::ranges::all_of(
        switches, [&](uint32_t n) { return subnet != kNone && routes_[n].by_subnet[subnet] != kNone; });
    if (!reached) {
      cut(senders, receivers, pairs);
      return false;
    }
    std::vector<uint32_t>& starts = starts_[subnet];
    starts.insert(starts.end(), switches.begin(), switches.end());
    return true;
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
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) add_sender({host, p});
  }
  void arrive_by_all_ports(uint32_t host) {
    if (!arrived_.insert(host).second) return;
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) {
      const LinkEnd peer = fabric_.peer_of({host, p});
      if (fabric_.nodes[peer.node].kind == NodeKind::kSwitch) add_sender(peer);
    }
  }

  // Along the routes to one subnet, from all switches that senders are at.
  void walk(uint32_t subnet, const std::vector<uint32_t>& starts) {
    std::vector<uint32_t> reached;
    const auto reach = [&](uint32_t n) {
      if (std::exchange(reached_for_[n], subnet) != subnet) reached.push_back(n);
    };
    std::ranges::for_each(starts, reach);
    for (size_t i = 0; i < reached.size(); ++i) {
      const uint32_t n = reached[i];
      const uint32_t route = routes_[n].by_subnet[subnet];
      if (route == kNone || route == RouteTable::kConnected) continue;
      for (const uint16_t port : routes_[n].groups[route]) {
        for (const uint16_t member : fabric_.ports_of_way({n, port})) add_sender({n, member});
        reach(fabric_.peer_of({n, port}).node);
      }
    }
  }

  void add_sender(LinkEnd end) {
    std::vector<bool>& ports = is_sender_[end.node];
    if (ports.empty()) ports.resize(fabric_.nodes[end.node].ports.size());
    if (ports[end.port]) return;
    ports[end.port] = true;
    out_.senders.push_back(end);
  }

  const Fabric& fabric_;
  const std::vector<RouteTable>& routes_;
  Ways out_;
  std::vector<uint32_t> reached_for_;                 // by node: the subnet of the last walk that came there
  std::vector<std::vector<bool>> is_sender_;          // by node and port: stands in out_.senders
  std::map<uint32_t, std::vector<uint32_t>> starts_;  // by subnet: the switches that packets for it come to first
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
