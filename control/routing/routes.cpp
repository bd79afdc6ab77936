// SPDX-License-Identifier: Apache-2.0
#include "control/routing/routes.hpp"

#include <algorithm>

namespace softspine::control {
namespace {

struct NextNode {
  uint32_t node;
  uint16_t port;  // ours
};

// How far each switch is from a destination.
struct Distances {
  std::vector<uint32_t> down;  // going down (or sideways) only
  std::vector<uint32_t> best;  // `down` where there is one, else up first
};

class Router {
 public:
  Router(const Fabric& fabric, const std::vector<bool>& link_up) : fabric_(fabric), link_up_(link_up) {
    const size_t count = fabric.nodes.size();
    above_.resize(count);
    below_.resize(count);
    tables_.resize(count);
    group_of_.resize(count);
    find_stack_peers();
    for (const FabricNode& node : fabric.nodes) {
      const auto n = static_cast<uint32_t>(&node - fabric.nodes.data());
      if (node.kind != NodeKind::kSwitch) continue;
      by_tier_[static_cast<size_t>(tier_of(node.role))].push_back(n);
      tables_[n].by_subnet.assign(fabric.subnets.size(), kNone);
      find_neighbours(n);
    }
  }

  std::vector<RouteTable> run() {
    for (uint32_t s = 0; s < fabric_.subnets.size(); ++s) route_subnet(s);
    for_each_switch([&](uint32_t n) { tables_[n].by_switch.assign(fabric_.nodes.size(), kNone); });
    const std::vector<uint32_t> alone = subnets_of_one_switch();
    for (const auto& tier : by_tier_) {
      for (const uint32_t destination : tier) {
        if (alone[destination] != kNone) {
          route_switch_as(destination, alone[destination]);
        } else {
          route_switch(destination);
        }
      }
    }
    return std::move(tables_);
  }

  std::vector<RouteTable> run_to(const std::vector<bool>& subnets) {
    for (uint32_t s = 0; s < fabric_.subnets.size(); ++s) {
      if (subnets[s]) route_subnet(s);
    }
    return std::move(tables_);
  }

 private:
  // By switch: a subnet that is at this switch alone. To the switch itself lead the same ways.
  std::vector<uint32_t> subnets_of_one_switch() const {
    std::vector<uint32_t> out(fabric_.nodes.size(), kNone);
    for (uint32_t s = 0; s < fabric_.subnets.size(); ++s) {
      if (fabric_.subnets[s].switches.size() == 1) out[fabric_.subnets[s].switches[0]] = s;
    }
    return out;
  }
  void route_switch(uint32_t destination) {
    measure({destination});
    for_each_switch([&](uint32_t n) { tables_[n].by_switch[destination] = n == destination ? kNone : group_at(n); });
  }
  void route_switch_as(uint32_t destination, uint32_t subnet) {
    for_each_switch([&](uint32_t n) {
      tables_[n].by_switch[destination] = n == destination ? kNone : tables_[n].by_subnet[subnet];
    });
  }

  // Whether the port is a way now: its link is up, or enough of those of the LAG that it stands for.
  bool is_open(LinkEnd end) const {
    const uint32_t link = fabric_.port(end).link;
    if (link == kNone) return false;
    const Lag* lag = fabric_.lag_of(end);
    if (lag == nullptr) return link_up_[link];
    return fabric_.is_way(end) && lag->is_up([this](uint32_t l) { return link_up_[l]; });
  }

  void find_neighbours(uint32_t n) {
    const FabricNode& node = fabric_.nodes[n];
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      if (!is_open({n, p})) continue;
      const uint32_t peer = fabric_.peer_of({n, p}).node;
      if (fabric_.nodes[peer].kind != NodeKind::kSwitch) continue;
      (tier_of(fabric_.nodes[peer].role) > tier_of(node.role) ? above_ : below_)[n].push_back({peer, p});
    }
  }

  void find_stack_peers() {
    stack_peer_.assign(fabric_.nodes.size(), kNone);
    for (const Stack& stack : fabric_.stacks) {
      if (std::ranges::none_of(stack.peer_links, [this](uint32_t link) { return is_open(fabric_.links[link].a); }))
        continue;
      stack_peer_[stack.switches[0]] = stack.switches[1];
      stack_peer_[stack.switches[1]] = stack.switches[0];
    }
  }

  template <typename See>
  void for_each_switch(See&& see) {
    for (const auto& tier : by_tier_) {
      for (const uint32_t n : tier) see(n);
    }
  }

  // From the destination outwards: who is above (or beside) a switch that gets there by going down, does, too.
  // Then tier by tier from the top: who doesn't goes up to the nearest that gets there.
  void measure(const std::vector<uint32_t>& destinations) {
    at_.down.assign(fabric_.nodes.size(), kNone);
    std::vector<uint32_t> reached = destinations;
    for (const uint32_t d : destinations) at_.down[d] = 0;
    for (size_t i = 0; i < reached.size(); ++i) {
      const uint32_t n = reached[i];
      const auto reach = [&](const NextNode& other) {
        if (at_.down[other.node] != kNone) return;
        at_.down[other.node] = at_.down[n] + 1;
        reached.push_back(other.node);
      };
      std::ranges::for_each(above_[n], reach);
      for (const NextNode& other : below_[n]) {
        if (tier_of(fabric_.nodes[other.node].role) == tier_of(fabric_.nodes[n].role)) reach(other);
      }
    }
    at_.best = at_.down;
    for (size_t tier = std::size(by_tier_); tier-- > 0;) {
      for (const uint32_t n : by_tier_[tier]) {
        if (at_.best[n] != kNone) continue;
        for (const NextNode& up : above_[n]) {
          if (at_.best[up.node] != kNone) at_.best[n] = std::min(at_.best[n], at_.best[up.node] + 1);
        }
      }
    }
  }

  // Nothing leads there from this member of a stack, and something does from the other one.
  bool goes_by_peer(uint32_t n) const {
    return stack_peer_[n] != kNone && at_.best[n] == kNone && at_.best[stack_peer_[n]] != kNone;
  }

  // The group of the ports that lead one step nearer to what was measured last.
  uint32_t group_at(uint32_t n) {
    std::vector<uint16_t>& ports = ports_;
    ports.clear();
    if (goes_by_peer(n)) {
      for (const NextNode& next : below_[n]) {
        if (next.node == stack_peer_[n]) ports.push_back(next.port);
      }
      return group_with(n, ports);
    }
    if (at_.best[n] == kNone) return kNone;
    const bool goes_down = at_.down[n] != kNone;
    for (const NextNode& next : goes_down ? below_[n] : above_[n]) {
      const uint32_t theirs = goes_down ? at_.down[next.node] : at_.best[next.node];
      if (theirs != kNone && theirs + 1 == at_.best[n]) ports.push_back(next.port);
    }
    return group_with(n, ports);
  }

  uint32_t group_with(uint32_t n, const std::vector<uint16_t>& ports) {
    if (const auto known = group_of_[n].find(ports); known != group_of_[n].end()) return known->second;
    const auto group = static_cast<uint32_t>(tables_[n].groups.size());
    group_of_[n].emplace(ports, group);
    tables_[n].groups.push_back(ports);
    return group;
  }

  void route_subnet(uint32_t index) {
    const Subnet& subnet = fabric_.subnets[index];
    measure(subnet.switches);
    for_each_switch(
        [&](uint32_t n) { tables_[n].by_subnet[index] = at_.down[n] == 0 ? RouteTable::kConnected : group_at(n); });
    const bool stacked = subnet.switches.size() == 2 && stack_peer_[subnet.switches[0]] == subnet.switches[1];
    std::map<std::vector<uint32_t>, std::vector<uint32_t>> moved;  // by the switches that are left
    for (const uint32_t host : subnet.hosts) {
      if (!stacked && !fabric_.nodes[host].bond.is_routed_around()) continue;
      auto left = switches_of(host);
      if (!left.empty() && left != subnet.switches) moved[std::move(left)].push_back(host);
    }
    for (const auto& [left, hosts] : moved) {
      measure(left);
      for_each_switch([&](uint32_t n) {
        if (stacked && stack_peer_[n] != subnet.switches[0] && stack_peer_[n] != subnet.switches[1]) return;
        const uint32_t route = at_.down[n] == 0 ? RouteTable::kConnected : group_at(n);
        if (route == tables_[n].by_subnet[index]) return;
        for (const uint32_t host : hosts) tables_[n].by_host[host] = route;
      });
    }
  }

  // The switches that a host's working links lead to, ascending.
  std::vector<uint32_t> switches_of(uint32_t host) const {
    std::vector<uint32_t> out;
    const FabricNode& node = fabric_.nodes[host];
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      const uint32_t link = node.ports[p].link;
      if (link == kNone || !link_up_[link]) continue;
      const uint32_t peer = fabric_.peer_of({host, p}).node;
      if (fabric_.nodes[peer].kind == NodeKind::kSwitch) out.push_back(peer);
    }
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
  }

  const Fabric& fabric_;
  const std::vector<bool>& link_up_;
  std::vector<uint32_t> by_tier_[kTopTier + 1];  // switches
  std::vector<std::vector<NextNode>> above_;     // of a higher tier
  std::vector<std::vector<NextNode>> below_;     // of a lower one, or of the same
  std::vector<uint32_t> stack_peer_;             // by node: over a peer link that is up
  std::vector<RouteTable> tables_;
  std::vector<std::map<std::vector<uint16_t>, uint32_t>> group_of_;  // by switch: the index of a set of ports
  Distances at_;
  std::vector<uint16_t> ports_;  // of group_at()
};

}  // namespace

std::vector<RouteTable> compute_routes(const Fabric& fabric, const std::vector<bool>& link_up) {
  return Router(fabric, link_up).run();
}

std::vector<RouteTable> compute_routes_to(const Fabric& fabric, const std::vector<bool>& subnets) {
  const std::vector<bool> link_up(fabric.links.size(), true);
  return Router(fabric, link_up).run_to(subnets);
}

bool has_route(const Fabric& fabric, const std::vector<bool>& link_up, uint32_t node, uint32_t host) {
  const uint32_t subnet = fabric.nodes[host].subnet;
  std::vector<bool> subnets(fabric.subnets.size());
  subnets[subnet] = true;
  const std::vector<RouteTable> routes = Router(fabric, link_up).run_to(subnets);
  const RouteTable& table = routes[node];
  const auto own = table.by_host.find(host);
  return (own != table.by_host.end() ? own->second : table.by_subnet[subnet]) != kNone;
}

}  // namespace softspine::control
