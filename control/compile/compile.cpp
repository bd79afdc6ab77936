// SPDX-License-Identifier: Apache-2.0
#include "control/compile/compile.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <ranges>
#include <utility>

#include "control/compile/group_buckets.hpp"
#include "control/compile/override_routes.hpp"
#include "control/compile/slices.hpp"
#include "control/compile/switch_qos.hpp"
#include "control/compile/switch_vlans.hpp"
#include "dataplane/flow_control/whole_link.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

dp::AddressBytes bytes_of(Ipv4Address address) {
  dp::AddressBytes out{};
  for (size_t i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(address.value >> (24 - 8 * i));
  return out;
}
dp::AddressBytes bytes_of(const Ipv6Address& address) {
  return address.bytes;
}
template <typename P>
dp::Prefix packed(const P& prefix) {
  return {bytes_of(prefix.address), prefix.length};
}

// True for hosts that get their MAC from the fabric; a file has no way to announce its own.
bool has_planned_mac(const Attachment& attachment) {
  return is_builtin(attachment) || is_started(attachment) || is_replayed(attachment);
}

dp::EcmpGroupMode mode_of(EcmpGroupMode mode) {
  switch (mode) {
    case EcmpGroupMode::kInPort: return dp::EcmpGroupMode::kInPort;
    case EcmpGroupMode::kFlowlet: return dp::EcmpGroupMode::kFlowlet;
    case EcmpGroupMode::kSpray: return dp::EcmpGroupMode::kSpray;
    case EcmpGroupMode::kHash:
    case EcmpGroupMode::kPinned: break;
  }
  return dp::EcmpGroupMode::kHash;
}

// True if a switch's choices depend on the members that its groups would have if every link were up.
bool depends_on_absent_members(const EcmpGroupConfig& groups) {
  return groups.mode == EcmpGroupMode::kPinned || groups.mode == EcmpGroupMode::kInPort ||
         groups.kind == EcmpGroupKind::kResilient;
}

dp::QosMaps qos_of(const Profile& profile, const PortMaps& its) {
  dp::QosMaps maps;
  maps.dscp_to_tc = its.dscp_to_tc;
  maps.dot1p_to_tc = its.dot1p_to_tc;
  maps.pcp_flags = its.trusts_pcp ? uint8_t{dp::kIsTagged} : uint8_t{0};
  maps.tc_to_queue = its.tc_to_queue;
  maps.tc_to_pg = its.tc_to_pg;
  for (size_t q = 0; q < maps.queue_limit_bytes.size(); ++q) {
    maps.queue_limit_bytes[q] =
        static_cast<uint32_t>(std::min<uint64_t>(profile.queue_limit_bytes[q], std::numeric_limits<uint32_t>::max()));
  }
  return maps;
}

// The error's place is that of the profile's groups in the file, or of the profile, or of the fabric.
Error about_profile(const Testbed& testbed, const Profile& profile, std::string message) {
  return error_at(profile.place.file.empty() ? testbed.fabric_place : profile.groups_place, std::move(message));
}

}  // namespace

dp::MacAddress packet_mac(const MacAddress& mac) {
  return mac.bytes;
}

Errors unsupported_in(const Testbed& testbed) {
  const Fabric& fabric = testbed.fabric;
  // Members are ports to other switches. Routes of a large fabric take seconds, and are not looked at for less.
  const auto has_too_many = [&](uint32_t n) {
    const auto to_switch = [&](uint16_t p) {
      return fabric.nodes[fabric.peer_of({n, p}).node].kind == NodeKind::kSwitch;
    };
    if (fabric.nodes[n].kind != NodeKind::kSwitch) return false;
    const auto ports = std::views::iota(uint16_t{0}, static_cast<uint16_t>(fabric.nodes[n].ports.size()));
    return static_cast<size_t>(std::ranges::count_if(ports, to_switch)) > dp::kMaxEcmpGroupMembers;
  };
  Errors errors;
  const auto nodes = std::views::iota(uint32_t{0}, static_cast<uint32_t>(fabric.nodes.size()));
  if (std::ranges::none_of(nodes, has_too_many)) return errors;
  const auto tables = compute_routes(fabric, std::vector<bool>(fabric.links.size(), true));
  for (uint32_t n = 0; n < tables.size(); ++n) {
    const auto largest = std::ranges::max_element(tables[n].groups, {}, &std::vector<uint16_t>::size);
    if (largest == tables[n].groups.end() || largest->size() <= dp::kMaxEcmpGroupMembers) continue;
    errors.push_back(about_profile(testbed, testbed.profiles[fabric.nodes[n].profile],
                                   fabric.nodes[n].name + " would have a group of " + std::to_string(largest->size()) +
                                       " members: at most " + std::to_string(dp::kMaxEcmpGroupMembers)));
  }
  return errors;
}

Compiler::Compiler(const Testbed& testbed) : testbed_(testbed) {
  const Fabric& fabric = testbed.fabric;
  for (const Profile& profile : testbed.profiles) {
    hashes_.emplace_back(profile.hash);
    lag_hashes_.emplace_back(profile.hash_of_lags());
  }
  whole_ =
      std::make_shared<std::vector<RouteTable>>(compute_routes(fabric, std::vector<bool>(fabric.links.size(), true)));
  router_macs_.resize(fabric.nodes.size());
  subnets_of_.resize(fabric.nodes.size());
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    if (node.kind == NodeKind::kSwitch && !node.ports.empty()) router_macs_[n] = packet_mac(node.ports[0].mac);
  }
  for (uint32_t s = 0; s < fabric.subnets.size(); ++s) {
    const Subnet& subnet = fabric.subnets[s];
    for (const uint32_t n : subnet.switches) subnets_of_[n].push_back(s);
  }
  overrides_.resize(fabric.nodes.size());
  for (const Override& each : testbed.overrides) overrides_[each.node].push_back(each);
  profile_of_.resize(fabric.nodes.size(), kNone);
  plans_.resize(fabric.nodes.size());
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == NodeKind::kSwitch) use_profile(n, fabric.nodes[n].profile);
  }
  // Until nothing changes: switches may be joined by a chain of shared subnets.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Subnet& subnet : fabric.subnets) {
      dp::MacAddress least{};
      for (const uint32_t n : subnet.switches) {
        if (least == dp::MacAddress{} || router_macs_[n] < least) least = router_macs_[n];
      }
      for (const uint32_t n : subnet.switches) {
        changed = changed || router_macs_[n] != least;
        router_macs_[n] = least;
      }
    }
  }
}

std::shared_ptr<const std::vector<RouteTable>> Compiler::routes(const std::vector<bool>& link_up) const {
  if (std::ranges::all_of(link_up, std::identity{})) return whole_;
  return std::make_shared<std::vector<RouteTable>>(compute_routes(testbed_.fabric, link_up));
}

void Compiler::use_profile(uint32_t node, uint32_t profile) {
  profile_of_[node] = profile;
  const Profile& tables = testbed_.profiles[profile];
  const auto shapes = port_shapes(testbed_.fabric, testbed_.profiles, node);
  const auto of_link = [](const PortShape& port) { return dp::pauses_whole_link(port.link.flow_control); };
  plans_[node] = nullptr;
  if (tables.qos) {
    plans_[node] = compile_qos(tables, shapes);
  } else if (tables.in_band_telemetry || std::ranges::any_of(shapes, of_link)) {  // obeyed without tables, too
    Profile plain = tables;
    plain.qos = std::make_shared<const QosConfig>();
    plans_[node] = compile_qos(plain, shapes);
  }
}

bool Compiler::use_engineered(uint32_t node, std::vector<Override> overrides) {
  std::vector<Override> all = overrides_[node];
  std::erase_if(all, [](const Override& each) { return each.is_engineered; });
  all.insert(all.end(), overrides.begin(), overrides.end());
  if (all == overrides_[node]) return false;
  overrides_[node] = std::move(all);
  return true;
}

// One switch's state while it is being put together.
class Compiler::StateBuilder {
 public:
  StateBuilder(const Compiler& compiler, uint32_t node, const RouteTable& routes, const std::vector<bool>& members)
      : compiler_(compiler),
        fabric_(compiler.testbed_.fabric),
        node_(fabric_.nodes[node]),
        index_(node),
        routes_(routes),
        lag_members_(members),
        groups_(compiler.testbed_.profiles[node_.profile].groups),
        whole_(depends_on_absent_members(groups_) ? &(*compiler.whole_)[node] : nullptr),
        hop_of_(node_.ports.size(), kNone),
        vlans_(fabric_, node, compiler.subnets_of_[node]),
        state_(std::make_shared<dp::ForwardingState>()) {}

  std::shared_ptr<const dp::ForwardingState> build() {
    const Profile& profile = compiler_.testbed_.profiles[compiler_.profile_of_[index_]];
    state_->router_mac = compiler_.router_macs_[index_];
    state_->loopback_ipv4 = bytes_of(node_.ipv4);
    state_->loopback_ipv6 = bytes_of(node_.ipv6);
    state_->ports.resize(node_.ports.size());
    state_->qos = qos_of(profile, profile);
    for (const FabricPort& port : node_.ports) {
      if (!profile.port_maps.empty()) state_->port_qos.push_back(qos_of(profile, profile.maps_at(port.name)));
    }
    state_->hash = compiler_.hashes_[node_.profile];
    state_->flowlets = groups_.flowlets;
    state_->ages = profile.ages;
    state_->chance = dp::Rng{compiler_.testbed_.run.seed, index_}.next();
    state_->plan = compiler_.plans_[index_];
    add_own_address(node_.ipv4, node_.ipv6);
    for (const uint32_t subnet : compiler_.subnets_of_[index_]) connect(subnet);
    add_routes();
    override_routes<Ipv4Prefix>(v4_, choices4_);
    override_routes<Ipv6Prefix>(v6_, choices6_);
    if (!lags_.empty()) {
      state_->lags = std::make_shared<const dp::LagTable>(
          dp::LagTable{std::move(lags_), std::move(lag_ports_), compiler_.lag_hashes_[node_.profile]});
    }
    state_->ipv4 = dp::PrefixTrie{v4_};
    state_->ipv6 = dp::PrefixTrie{v6_};
    return state_;
  }

 private:
  using Ports = std::vector<uint16_t>;

  template <typename A4, typename A6>
  void add_route(const A4& v4, const A6& v6, dp::RouteValue value, const Ports* ports = nullptr) {
    v4_.push_back({packed(v4), value.packed()});
    v6_.push_back({packed(v6), value.packed()});
    if (ports == nullptr || compiler_.overrides_[index_].empty()) return;
    choices4_[packed(v4)] = ports;
    choices6_[packed(v6)] = ports;
  }
  // The ports that a route to this prefix may leave by, whatever chooses among them.
  using Choices = std::map<dp::Prefix, const Ports*>;

  // Those of the IP version P, over the routes so far.
  template <typename P>
  void override_routes(std::vector<dp::PrefixValue>& routes, const Choices& choices) {
    std::vector<PortOverride> overrides;
    const std::vector<Override>& all = compiler_.overrides_[index_];
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (const P* to = std::get_if<P>(&all[i].to)) {
        overrides.push_back({packed(*to), all[i].in_port, all[i].out_port, i});
      }
    }
    if (overrides.empty()) return;
    PlannedRoutes planned;
    for (const dp::PrefixValue& each : routes) {
      const auto found = choices.find(each.prefix);
      planned[each.prefix] = {each.value, found == choices.end() ? nullptr : found->second};
    }
    add_overrides(planned, overrides, [this](uint16_t port) { return hop_at(port); }, state_->overrides);
    routes.clear();
    for (const auto& [prefix, route] : planned) routes.push_back({prefix, route.value});
  }
  void add_own_address(Ipv4Address v4, const Ipv6Address& v6) {
    add_route(host_prefix(v4), host_prefix(v6), {dp::RouteKind::kLocal, 0});
  }

  uint32_t add_adjacency(uint16_t port, const dp::MacAddress& to, uint16_t vlan) {
    state_->adjacencies.push_back({.destination = to,
                                   .source = state_->router_mac,
                                   .port = port,
                                   .mtu = static_cast<uint16_t>(fabric_.links[node_.ports[port].link].mtu),
                                   .vlan = vlan});
    return static_cast<uint32_t>(state_->adjacencies.size() - 1);
  }

  // `port` is a way: it stands for its LAG, if it is in one.
  uint32_t hop_at(uint16_t port) {
    if (hop_of_[port] == kNone) {
      const uint32_t peer = fabric_.peer_of({index_, port}).node;
      hop_of_[port] = add_adjacency(port, compiler_.router_macs_[peer], 0);
      if (const Lag* lag = fabric_.lag_of({index_, port})) state_->adjacencies.back().port = add_lag(*lag);
    }
    return hop_of_[port];
  }

  bool is_member(uint16_t port) const { return lag_members_.empty() || lag_members_[node_.ports[port].link]; }
  // A LAG of one port, without it.
  uint16_t add_closed(uint16_t port) {
    lags_.push_back({static_cast<uint32_t>(lag_ports_.size()), 0, port});
    return static_cast<uint16_t>(dp::kFirstLag + lags_.size() - 1);
  }

  uint16_t add_lag(const Lag& lag) {
    const auto first = static_cast<uint32_t>(lag_ports_.size());
    for (const uint16_t port : lag.ports_at(index_)) {
      if (is_member(port)) lag_ports_.push_back(port);
    }
    if (lag_ports_.size() - first < lag.min_links) lag_ports_.resize(first);
    lags_.push_back({first, static_cast<uint32_t>(lag_ports_.size()) - first, lag.ports_at(index_).front()});
    return static_cast<uint16_t>(dp::kFirstLag + lags_.size() - 1);
  }

  // The route by a group of the table; `whole` is the group that it would be if every link were up.
  dp::RouteValue route_by(uint32_t group, uint32_t whole) {
    const auto [known, is_new] = route_of_.try_emplace({group, whole}, dp::RouteKind::kAdjacency, 0U);
    const Ports& ports = routes_.groups[group];
    if (is_new) known->second = route_among(ports, whole == kNone ? ports : whole_->groups[whole]);
    return known->second;
  }
  // A group of one is its adjacency.
  dp::RouteValue route_among(const Ports& ports, const Ports& whole) {
    if (ports.size() == 1) return {dp::RouteKind::kAdjacency, hop_at(ports[0])};
    const auto group = static_cast<uint32_t>(state_->groups.size());
    add_group(ports, whole);
    return {dp::RouteKind::kEcmpGroup, group};
  }

  void add_group(const Ports& ports, const Ports& whole) {
    dp::EcmpGroup group{.first = static_cast<uint32_t>(state_->members.size()), .mode = mode_of(groups_.mode)};
    const GroupBuckets buckets(groups_, state_->hash.model(), [this](uint16_t port) { return weight_of(port); });
    // By the port it came in by: whose own next hop is gone goes by the hash, nobody else moves.
    const bool falls_back = group.mode == dp::EcmpGroupMode::kInPort && ports != whole && !ports.empty();
    const bool is_hashed = group.mode == dp::EcmpGroupMode::kHash;
    group.count = add_buckets(buckets.of(falls_back ? whole : ports, whole, is_hashed), ports);
    if (falls_back) group.live = add_buckets(buckets.of(ports, whole, true), ports);
    state_->groups.push_back(group);
  }

  // How many there are. Only `alive` ports have next hops.
  uint32_t add_buckets(const Ports& owners, const Ports& alive) {
    for (const uint16_t port : owners)
      state_->members.push_back(std::ranges::binary_search(alive, port) ? hop_at(port) : dp::kDeadMember);
    return static_cast<uint32_t>(owners.size());
  }

  uint32_t weight_of(uint16_t port) const {
    return control::weight_of(groups_, fabric_.nodes[fabric_.peer_of({index_, port}).node].name);
  }

  // The ports of this switch that lead to a host.
  std::vector<uint16_t> ports_to(uint32_t host) const {
    std::vector<uint16_t> out;
    for (uint16_t p = 0; p < fabric_.nodes[host].ports.size(); ++p) {
      const LinkEnd end = fabric_.peer_of({host, p});
      if (end.node == index_) out.push_back(end.port);
    }
    return out;
  }

  void connect(uint32_t number) {
    const Subnet& subnet = fabric_.subnets[number];
    add_own_address(subnet.gateway4, subnet.gateway6);
    const bool bridged = bridges_hosts(node_.role);
    std::vector<uint16_t> members;
    uint32_t least_mtu = std::numeric_limits<uint16_t>::max();
    for (const uint32_t host : subnet.hosts) {
      for (const uint16_t port : ports_to(host)) {
        members.push_back(port);
        least_mtu = std::min(least_mtu, fabric_.links[node_.ports[port].link].mtu);
      }
    }
    std::ranges::sort(members);
    const auto mtu = static_cast<uint16_t>(least_mtu);
    const bool proxy = !bridged || subnet.switches.size() > 1;
    const uint16_t vlan = bridged ? vlans_.add(subnet, members, *state_) : uint16_t{0};
    if (bridged) {
      const uint32_t index = add_subnet(subnet, proxy, vlan, 0, mtu);
      v4_.push_back({packed(subnet.v4), dp::RouteValue{dp::RouteKind::kSubnet, index}.packed()});
      v6_.push_back({packed(subnet.v6), dp::RouteValue{dp::RouteKind::kSubnet, index + 1}.packed()});
    }
    for (const uint32_t host : subnet.hosts) connect_host(subnet, host, vlan, mtu);
  }

  // Both families, one after the other; returns the first one's index.
  uint32_t add_subnet(const Subnet& subnet, bool proxy, uint16_t vlan, uint16_t port, uint16_t mtu) {
    const auto index = static_cast<uint32_t>(state_->subnets.size());
    state_->subnets.push_back({packed(subnet.v4), bytes_of(subnet.gateway4), false, proxy, vlan, port, mtu});
    state_->subnets.push_back({packed(subnet.v6), bytes_of(subnet.gateway6), true, proxy, vlan, port, mtu});
    return index;
  }

  void connect_host(const Subnet& subnet, uint32_t host, uint16_t vlan, uint16_t mtu) {
    const FabricNode& node = fabric_.nodes[host];
    for (const uint16_t port : ports_to(host)) {
      const uint32_t asks = vlan == 0 ? add_subnet(subnet, true, 0, port, mtu) : 0;
      const auto exception = routes_.by_host.find(host);
      const bool is_elsewhere = exception != routes_.by_host.end() && exception->second != RouteTable::kConnected;
      const bool has_mac = has_planned_mac(node.attachment);
      // Without another way its MAC is not asked for over a port that is closed.
      const bool is_closed = has_mac && !is_member(port) && !(is_elsewhere && has_group(exception->second));
      if (is_elsewhere && !is_closed) continue;
      if (has_mac) {
        const uint32_t hop = add_adjacency(port, packet_mac(node.ports[0].mac), vlan);
        if (is_closed) state_->adjacencies.back().port = add_closed(port);
        add_route(host_prefix(node.ipv4), host_prefix(node.ipv6), {dp::RouteKind::kAdjacency, hop});
      } else if (vlan == 0) {
        v4_.push_back({packed(host_prefix(node.ipv4)), dp::RouteValue{dp::RouteKind::kSubnet, asks}.packed()});
        v6_.push_back({packed(host_prefix(node.ipv6)), dp::RouteValue{dp::RouteKind::kSubnet, asks + 1}.packed()});
      }
    }
  }

  static bool has_group(uint32_t route) { return route != kNone && route != RouteTable::kConnected; }
  // A route of the table with every link up, as a group; kNone if it is none.
  static uint32_t whole_of(uint32_t route) { return has_group(route) ? route : kNone; }
  // The group of the same destination if every link were up; kNone if that does not matter.
  uint32_t whole_of_subnet(uint32_t s) const { return whole_ == nullptr ? kNone : whole_of(whole_->by_subnet[s]); }

  void add_routes() {
    for (uint32_t s = 0; s < routes_.by_subnet.size(); ++s) {
      const uint32_t route = routes_.by_subnet[s];
      if (!has_group(route)) continue;
      add_route(fabric_.subnets[s].v4, fabric_.subnets[s].v6, route_by(route, whole_of_subnet(s)),
                &routes_.groups[route]);
      if (groups_.mode == EcmpGroupMode::kPinned) pin_hosts(s, routes_.groups[route]);
    }
    for (uint32_t n = 0; n < routes_.by_switch.size(); ++n) {
      const uint32_t route = routes_.by_switch[n];
      if (!has_group(route)) continue;
      const uint32_t whole = whole_ == nullptr ? kNone : whole_of(whole_->by_switch[n]);
      add_route(host_prefix(fabric_.nodes[n].ipv4), host_prefix(fabric_.nodes[n].ipv6), route_by(route, whole),
                &routes_.groups[route]);
    }
    for (const auto& [host, route] : routes_.by_host) {
      if (!has_group(route)) continue;
      const uint32_t whole = whole_of_subnet(fabric_.nodes[host].subnet);
      add_route(host_prefix(fabric_.nodes[host].ipv4), host_prefix(fabric_.nodes[host].ipv6), route_by(route, whole),
                &routes_.groups[route]);
    }
  }

  // A route of its own for each host, by its slice (slices.hpp).
  void pin_hosts(uint32_t s, const Ports& ports) {
    const uint32_t whole = whole_of_subnet(s);
    if (whole == kNone || whole_->groups[whole].size() < 2) return;
    const std::vector<uint32_t>& hosts = fabric_.subnets[s].hosts;
    for (size_t slice = 0; slice < hosts.size(); ++slice) {
      const Ports its = uplinks_of(whole_->groups[whole], slice, hosts.size());
      const Ports present = present_of(its, ports);
      if (routes_.by_host.contains(hosts[slice]) || present.empty()) continue;
      const auto [known, is_new] = slice_of_.try_emplace({present, its}, dp::RouteKind::kAdjacency, 0U);
      if (is_new) known->second = route_among(present, its);
      const FabricNode& node = fabric_.nodes[hosts[slice]];
      add_route(host_prefix(node.ipv4), host_prefix(node.ipv6), known->second, &ports);
    }
  }

  const Compiler& compiler_;
  const Fabric& fabric_;
  const FabricNode& node_;
  uint32_t index_;
  const RouteTable& routes_;
  const std::vector<bool>& lag_members_;
  const EcmpGroupConfig& groups_;
  const RouteTable* whole_;       // null: does not matter
  std::vector<uint32_t> hop_of_;  // by port: its adjacency
  SwitchVlans vlans_;
  std::shared_ptr<dp::ForwardingState> state_;
  std::vector<dp::LagTable::Lag> lags_;
  std::vector<uint16_t> lag_ports_;                                   // their members
  std::map<std::pair<uint32_t, uint32_t>, dp::RouteValue> route_of_;  // by the table's group, and the whole one
  std::map<std::pair<Ports, Ports>, dp::RouteValue> slice_of_;        // by a slice's ports, and all that it may have
  std::vector<dp::PrefixValue> v4_;
  std::vector<dp::PrefixValue> v6_;
  Choices choices4_;  // if the switch has overrides
  Choices choices6_;
};

std::shared_ptr<const dp::ForwardingState> Compiler::compile(uint32_t node, const RouteTable& routes,
                                                             const std::vector<bool>& members) const {
  return StateBuilder(*this, node, routes, members).build();
}

}  // namespace softspine::control
