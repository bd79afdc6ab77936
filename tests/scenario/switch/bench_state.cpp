// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {

using namespace dataplane;

namespace {

struct Rack {
  uint8_t net;    // third byte of IPv4's, second group of IPv6's
  uint16_t vlan;  // 0: on `port`
  uint16_t port;
};
constexpr Rack kRacks[] = {{10, 10, 0}, {20, 20, 0}, {30, 0, 6}, {40, 0, 7}};

Bytes net4(uint8_t net, uint8_t host) {
  return {10, 0, net, host};
}
// The group reads like the decimal number of IPv4's.
uint16_t group_of(uint8_t net) {
  return static_cast<uint16_t>(net / 10 * 16 + net % 10);
}

void add_subnets(ForwardingState& state, std::vector<PrefixValue>& ipv4, std::vector<PrefixValue>& ipv6) {
  for (const Rack& rack : kRacks) {
    for (const bool is_ipv6 : {false, true}) {
      const Bytes network = is_ipv6 ? ip6(group_of(rack.net), 0) : net4(rack.net, 0);
      const Bytes gateway = is_ipv6 ? ip6(group_of(rack.net), 1) : net4(rack.net, 1);
      const Prefix prefix{address_of(network), static_cast<uint8_t>(is_ipv6 ? 64 : 24)};
      const auto index = static_cast<uint32_t>(state.subnets.size());
      state.subnets.push_back(
          {.prefix = prefix, .gateway = address_of(gateway), .is_ipv6 = is_ipv6, .vlan = rack.vlan, .port = rack.port});
      auto& list = is_ipv6 ? ipv6 : ipv4;
      list.push_back({prefix, RouteValue{RouteKind::kSubnet, index}.packed()});
      const Prefix own{address_of(gateway), static_cast<uint8_t>(is_ipv6 ? 128 : 32)};
      list.push_back({own, RouteValue{RouteKind::kLocal, 0}.packed()});
    }
  }
}

void add_routes(ForwardingState& state, std::vector<PrefixValue>& ipv4, std::vector<PrefixValue>& ipv6) {
  const auto to_fabric = [](uint16_t port, uint16_t mtu) {
    return Adjacency{station(static_cast<uint8_t>(100 + port)), kRouter, port, mtu, 0};
  };
  state.adjacencies = {to_fabric(4, 9216), to_fabric(5, 9216), to_fabric(5, 1500)};
  state.members = {0, 1};
  state.groups = {{0, 2}, {2, 0}};
  const RouteValue routes[] = {
      {RouteKind::kAdjacency, 0}, {RouteKind::kEcmpGroup, 0}, {RouteKind::kEcmpGroup, 1}, {RouteKind::kAdjacency, 2}};
  for (uint8_t i = 0; i < 4; ++i) {
    ipv4.push_back({{address_of({10, static_cast<uint8_t>(i + 1)}), 16}, routes[i].packed()});
    ipv6.push_back({{address_of(ip6(static_cast<uint16_t>(0x101 + i), 0)), 32}, routes[i].packed()});
  }
}

}  // namespace

AddressBytes address_of(const Bytes& bytes) {
  AddressBytes address{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), address.size()), address.begin());
  return address;
}

Prefix prefix4(const std::string& address, uint8_t length) {
  return {address_of(ip4(address)), length};
}

ForwardingState bench_state() {
  ForwardingState state;
  state.router_mac = kRouter;
  state.loopback_ipv4 = address_of(ip4("10.255.0.1"));
  state.loopback_ipv6 = address_of(ip6(0x255, 1));
  state.qos = azure_maps(kBenchQueueBytes);
  state.ports.resize(kBenchPorts);
  state.ports[0].untagged_vlan = state.ports[1].untagged_vlan = 10;
  state.ports[2].tagged_vlans = {10, 20};
  state.ports[3].untagged_vlan = 20;
  state.vlans = {{10, {{0, false}, {1, false}, {2, true}}}, {20, {{2, true}, {3, false}}}};
  std::vector<PrefixValue> ipv4{{prefix4("10.255.0.1", 32), RouteValue{RouteKind::kLocal, 0}.packed()}};
  std::vector<PrefixValue> ipv6{{{state.loopback_ipv6, 128}, RouteValue{RouteKind::kLocal, 0}.packed()}};
  add_subnets(state, ipv4, ipv6);
  add_routes(state, ipv4, ipv6);
  state.ipv4 = PrefixTrie{ipv4};
  state.ipv6 = PrefixTrie{ipv6};
  return state;
}

}  // namespace softspine::tests
