// SPDX-License-Identifier: Apache-2.0
#include "control/compile/compile.hpp"

#include <algorithm>
#include <limits>

namespace softspine::control {

namespace dp = dataplane;

namespace {

constexpr uint16_t kFirstVlan = 1000;

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

// Whose MAC the fabric gives them; a file could not tell its own.
bool has_planned_mac(const Attachment& attachment) {
  return is_builtin(attachment) || std::holds_alternative<Guest>(attachment) ||
         std::holds_alternative<NamespaceHost>(attachment) || std::holds_alternative<PcapEdge>(attachment);
}

const std::vector<HashField>& five_tuple() {
  static const std::vector<HashField> fields = HashConfig{}.fields;
  return fields;
}
bool has_field(const HashConfig& hash, HashField field) {
  return std::ranges::find(hash.fields, field) != hash.fields.end();
}
bool is_supported(const HashConfig& hash) {
  const size_t extra = has_field(hash, HashField::kRdmaBthDestQp) ? 1 : 0;
  return hash.fields.size() == five_tuple().size() + extra &&
         std::ranges::all_of(five_tuple(), [&](HashField field) { return has_field(hash, field); });
}

dp::QosMaps qos_of(const Profile& profile) {
  dp::QosMaps maps = dp::azure_maps(0);
  maps.dscp_to_tc = profile.dscp_to_tc;
  maps.tc_to_queue = profile.tc_to_queue;
  for (size_t q = 0; q < maps.queue_limit_bytes.size(); ++q) {
    maps.queue_limit_bytes[q] =
        static_cast<uint32_t>(std::min<uint64_t>(profile.queue_limit_bytes[q], std::numeric_limits<uint32_t>::max()));
  }
  return maps;
}

}  // namespace

dp::MacAddress packet_mac(const MacAddress& mac) {
  dp::MacAddress out{};
  std::ranges::copy(mac.bytes, out.begin());
  return out;
}

Errors unsupported_in(const Testbed& testbed) {
  Errors errors;
  for (const Profile& profile : testbed.profiles) {
    const std::string path = "profiles." + profile.name + ".hash";
    if (profile.hash.algorithm != HashAlgorithm::kCrc) {
      errors.push_back({testbed.file, path + ".algorithm", 0, 0, "only CRC can be used yet"});
    }
    if (!is_supported(profile.hash)) {
      errors.push_back({testbed.file, path + ".fields", 0, 0,
                        "only SRC_IP, DST_IP, IP_PROTOCOL, L4_SRC_PORT and L4_DST_PORT together, with or without "
                        "RDMA_BTH_DEST_QP, can be used yet"});
    }
  }
  return errors;
}

Compiler::Compiler(const Testbed& testbed) : testbed_(testbed) {
  const Fabric& fabric = testbed.fabric;
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

// One switch's state while it is being put together.
class Compiler::StateBuilder {
 public:
  StateBuilder(const Compiler& compiler, uint32_t node, const RouteTable& routes)
      : compiler_(compiler),
        fabric_(compiler.testbed_.fabric),
        node_(fabric_.nodes[node]),
        index_(node),
        routes_(routes),
        state_(std::make_shared<dp::ForwardingState>()) {}

  std::shared_ptr<const dp::ForwardingState> build() {
    const Profile& profile = compiler_.testbed_.profiles[node_.profile];
    state_->router_mac = compiler_.router_macs_[index_];
    state_->loopback_ipv4 = bytes_of(node_.ipv4);
    state_->loopback_ipv6 = bytes_of(node_.ipv6);
    state_->ports.resize(node_.ports.size());
    state_->qos = qos_of(profile);
    state_->hash = dp::EcmpHash{{.seed = profile.hash.seed,
                                 .offset = profile.hash.offset,
                                 .destination_qp = has_field(profile.hash, HashField::kRdmaBthDestQp)}};
    add_groups();
    add_own_address(node_.ipv4, node_.ipv6);
    for (const uint32_t subnet : compiler_.subnets_of_[index_]) connect(subnet);
    add_routes();
    state_->ipv4 = dp::PrefixTrie{std::move(v4_)};
    state_->ipv6 = dp::PrefixTrie{std::move(v6_)};
    return state_;
  }

 private:
  template <typename A4, typename A6>
  void add_route(const A4& v4, const A6& v6, dp::RouteValue value) {
    v4_.push_back({packed(v4), value.packed()});
    v6_.push_back({packed(v6), value.packed()});
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

  // A group of one is its adjacency: route_of_ says which.
  void add_groups() {
    std::vector<uint32_t> hop_of(node_.ports.size(), kNone);
    for (const auto& ports : routes_.groups) {
      std::vector<uint32_t> hops;
      for (const uint16_t port : ports) {
        if (hop_of[port] == kNone) {
          const uint32_t peer = fabric_.peer_of({index_, port}).node;
          hop_of[port] = add_adjacency(port, compiler_.router_macs_[peer], 0);
        }
        hops.push_back(hop_of[port]);
      }
      if (hops.size() == 1) {
        route_of_.emplace_back(dp::RouteKind::kAdjacency, hops[0]);
        continue;
      }
      route_of_.emplace_back(dp::RouteKind::kGroup, static_cast<uint32_t>(state_->groups.size()));
      state_->groups.push_back({static_cast<uint32_t>(state_->members.size()), static_cast<uint32_t>(hops.size())});
      state_->members.insert(state_->members.end(), hops.begin(), hops.end());
    }
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
    const bool bridged = node_.role == Role::kTor;
    const auto vlan = bridged ? static_cast<uint16_t>(kFirstVlan + state_->vlans.size()) : uint16_t{0};
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
    if (bridged) {
      dp::Vlan entry{.id = vlan, .members = {}};
      for (const uint16_t port : members) {
        entry.members.push_back({port, false});
        state_->ports[port].untagged_vlan = vlan;
      }
      state_->vlans.push_back(std::move(entry));
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
      if (exception != routes_.by_host.end() && exception->second != RouteTable::kConnected) continue;
      if (has_planned_mac(node.attachment)) {
        const uint32_t hop = add_adjacency(port, packet_mac(node.ports[0].mac), vlan);
        add_route(host_prefix(node.ipv4), host_prefix(node.ipv6), {dp::RouteKind::kAdjacency, hop});
      } else if (vlan == 0) {
        v4_.push_back({packed(host_prefix(node.ipv4)), dp::RouteValue{dp::RouteKind::kSubnet, asks}.packed()});
        v6_.push_back({packed(host_prefix(node.ipv6)), dp::RouteValue{dp::RouteKind::kSubnet, asks + 1}.packed()});
      }
    }
  }

  void add_routes() {
    const auto has_group = [](uint32_t route) { return route != kNone && route != RouteTable::kConnected; };
    for (uint32_t s = 0; s < routes_.by_subnet.size(); ++s) {
      const uint32_t route = routes_.by_subnet[s];
      if (has_group(route)) add_route(fabric_.subnets[s].v4, fabric_.subnets[s].v6, route_of_[route]);
    }
    for (uint32_t n = 0; n < routes_.by_switch.size(); ++n) {
      const uint32_t route = routes_.by_switch[n];
      if (!has_group(route)) continue;
      add_route(host_prefix(fabric_.nodes[n].ipv4), host_prefix(fabric_.nodes[n].ipv6), route_of_[route]);
    }
    for (const auto& [host, route] : routes_.by_host) {
      if (!has_group(route)) continue;
      add_route(host_prefix(fabric_.nodes[host].ipv4), host_prefix(fabric_.nodes[host].ipv6), route_of_[route]);
    }
  }

  const Compiler& compiler_;
  const Fabric& fabric_;
  const FabricNode& node_;
  uint32_t index_;
  const RouteTable& routes_;
  std::shared_ptr<dp::ForwardingState> state_;
  std::vector<dp::RouteValue> route_of_;  // by the table's group
  std::vector<dp::PrefixValue> v4_;
  std::vector<dp::PrefixValue> v6_;
};

std::shared_ptr<const dp::ForwardingState> Compiler::compile(uint32_t node, const RouteTable& routes) const {
  return StateBuilder(*this, node, routes).build();
}

}  // namespace softspine::control
