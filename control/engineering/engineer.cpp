// SPDX-License-Identifier: Apache-2.0
#include "control/engineering/engineer.hpp"

#include <algorithm>
#include <tuple>

#include "control/engineering/place_demands.hpp"
#include "control/routing/next_hops.hpp"

namespace softspine::control {

namespace {

class Engineer {
 public:
  Engineer(const Testbed& testbed, const std::vector<RouteTable>& routes,
           const std::map<uint32_t, std::vector<Override>>& before, const std::vector<bool>& members)
      : config_(*testbed.engineering), fabric_(testbed.fabric), routes_(routes), members_(members) {
    for (const auto& [node, list] : before) {
      for (const Override& each : list) before_[{node, each.in_port, each.to}] = each.out_port;
    }
    for (const FabricLink& link : fabric_.links) {
      auto rate = static_cast<double>(link.rate.count_bps());
      if (const Lag* lag = fabric_.lag_of(link.a)) rate *= static_cast<double>(member_count(*lag));
      capacity_bps_.insert(capacity_bps_.end(), 2, rate);
    }
    load_.resize(capacity_bps_.size());
    for (const uint32_t node : config_.switches) out_.overrides[node];
  }

  EngineeringPlan make(const std::vector<FlowDemand>& demands) {
    for (const FlowDemand& each : demands) take(each);
    const PlacedDemands placed = place_demands(demands_, capacity_bps_, config_.utilisation, load_);
    out_.demands = static_cast<uint32_t>(demands_.size());
    load_ = placed.load;
    for (size_t d = 0; d < demands_.size(); ++d) {
      const auto path = placed.path[d];
      if (path && put(flows_[d], ways_[d][*path])) continue;
      if (path) add_load(demands_[d].paths[*path], -demands_[d].bps);
      spread(flows_[d]);  // what has no override is where ECMP has it
    }
    out_.highest = load_.empty() ? 0 : *std::ranges::max_element(load_);
    return std::move(out_);
  }

 private:
  using Shares = std::map<uint32_t, double>;  // by link and direction

  // At least one, to divide by: routes lead to no LAG that has none.
  size_t member_count(const Lag& lag) const {
    if (members_.empty()) return lag.links.size();
    const auto there = std::ranges::count_if(lag.links, [this](uint32_t link) { return members_[link]; });
    return static_cast<size_t>(std::max<int64_t>(1, there));
  }

  void take(const FlowDemand& each) {
    const auto& ports = ports_to(fabric_, routes_[each.at.node], each.to);
    const bool is_ours = std::ranges::binary_search(config_.switches, each.at.node);
    if (!is_ours || ports.size() < 2) return spread(each);
    PathDemand demand{.bps = each.bps, .paths = {}, .current = {}};
    const auto now = before_.find({each.at.node, each.at.port, host_prefix(fabric_.nodes[each.to].ipv4)});
    for (size_t p = 0; p < ports.size(); ++p) {
      demand.paths.push_back(path_by({each.at.node, ports[p]}, each.to));
      if (now != before_.end() && now->second == ports[p]) demand.current = static_cast<uint32_t>(p);
    }
    demands_.push_back(std::move(demand));
    flows_.push_back(each);
    ways_.push_back(ports);
  }

  DemandPath path_by(LinkEnd first, uint32_t host) const {
    Shares shares;
    cross(first, host, 1, shares);
    return path_of(shares);
  }
  static DemandPath path_of(const Shares& shares) {
    DemandPath out;
    for (const auto& [link, share] : shares) out.links.push_back({link, share});
    return out;
  }

  void add_load(const DemandPath& path, double bps) {
    for (const LinkShare& each : path.links) load_[each.link] += bps * each.share / capacity_bps_[each.link];
  }
  void spread(const FlowDemand& each) {
    Shares shares;
    follow(each.at.node, each.to, 1, shares);
    add_load(path_of(shares), each.bps);
  }

  // Routes form no circle.
  void follow(uint32_t node, uint32_t host, double share, Shares& out) const {
    const auto& ports = ports_to(fabric_, routes_[node], host);
    for (const uint16_t port : ports) cross({node, port}, host, share / static_cast<double>(ports.size()), out);
  }
  void cross(LinkEnd from, uint32_t host, double share, Shares& out) const {
    const uint32_t peer = fabric_.peer_of(from).node;
    if (fabric_.nodes[peer].kind != NodeKind::kSwitch) return;
    const Lag* lag = fabric_.lag_of(from);
    const uint32_t link = lag == nullptr ? fabric_.port(from).link : lag->links.front();
    out[2 * link + (fabric_.links[link].a.node == from.node ? 0 : 1)] += share;
    follow(peer, host, share, out);
  }

  // False if the switch has no room for two more.
  bool put(const FlowDemand& flow, uint16_t port) {
    std::vector<Override>& list = out_.overrides[flow.at.node];
    const FabricNode& host = fabric_.nodes[flow.to];
    if (list.size() + 2 > kMaxOverrides) return false;
    ++out_.placed;
    Override made{.node = flow.at.node, .in_port = flow.at.port, .out_port = port, .to = {}, .is_engineered = true};
    made.to = host_prefix(host.ipv4);
    const auto now = before_.find({made.node, made.in_port, made.to});
    if (now != before_.end() && now->second != port) ++out_.moved;
    list.push_back(made);
    made.to = host_prefix(host.ipv6);
    list.push_back(made);
    return true;
  }

  const EngineeringConfig& config_;
  const Fabric& fabric_;
  const std::vector<RouteTable>& routes_;
  const std::vector<bool>& members_;
  std::map<std::tuple<uint32_t, uint16_t, std::variant<Ipv4Prefix, Ipv6Prefix>>, uint16_t> before_;  // → port
  std::vector<double> capacity_bps_;  // by link and direction: 2 × link, + 1 from its end b
  std::vector<double> load_;
  std::vector<PathDemand> demands_;
  std::vector<FlowDemand> flows_;            // by demand
  std::vector<std::vector<uint16_t>> ways_;  // by demand: the port of each path
  EngineeringPlan out_;
};

}  // namespace

EngineeringPlan engineer(const Testbed& testbed, const std::vector<RouteTable>& routes,
                         const std::vector<FlowDemand>& demands,
                         const std::map<uint32_t, std::vector<Override>>& before, const std::vector<bool>& members) {
  return Engineer(testbed, routes, before, members).make(demands);
}

}  // namespace softspine::control
