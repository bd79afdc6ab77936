// SPDX-License-Identifier: Apache-2.0
// Thousands of groups in one switch, of one member up to the most there may be: each route finds its own.
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

constexpr uint32_t kGroups = 5'000;
constexpr uint32_t kNeighbours = 251;  // prime: no size of a group divides it
constexpr uint16_t kHostPort = 6;
constexpr uint16_t kFabricPort = 4;

uint32_t size_of(uint32_t group) {
  return 1 + group * 37 % kMaxEcmpGroupMembers;
}
// By the port it came in by, or all alike, so that no hash is needed to know the answer.
bool is_by_port(uint32_t group) {
  return group % 2 == 0;
}
uint32_t neighbour_of(uint32_t group, uint32_t bucket) {
  return (group + (is_by_port(group) ? bucket : 0)) % kNeighbours;
}
Bytes destination_of(uint32_t group) {
  return {10, 200, static_cast<uint8_t>(group >> 8), static_cast<uint8_t>(group)};
}

ForwardingState state_of_many_groups() {
  ForwardingState state = bench_state();
  state.adjacencies.clear();
  state.groups.clear();
  state.members.clear();
  for (uint32_t n = 0; n < kNeighbours; ++n) {
    state.adjacencies.push_back({station(static_cast<uint8_t>(n)), kRouter, kFabricPort, 9216, 0});
  }
  std::vector<PrefixValue> routes;
  for (uint32_t g = 0; g < kGroups; ++g) {
    state.groups.push_back({static_cast<uint32_t>(state.members.size()), size_of(g),
                            is_by_port(g) ? EcmpGroupMode::kInPort : EcmpGroupMode::kHash});
    for (uint32_t bucket = 0; bucket < size_of(g); ++bucket) state.members.push_back(neighbour_of(g, bucket));
    routes.push_back({{address_of(destination_of(g)), 32}, RouteValue{RouteKind::kEcmpGroup, g}.packed()});
  }
  state.ipv4 = PrefixTrie{routes};
  return state;
}

TEST(ManyGroups, AreEachFoundByTheirRoute) {
  Bench<pipelines::Core> bench{state_of_many_groups()};
  const Bytes payload = roce_datagram(0xc123, 0x000456, counting(8));
  Frames expected;
  for (uint32_t g = 0; g < kGroups; ++g) {
    Ipv4 ip{.from = ip4("10.0.30.2"), .to = destination_of(g), .ttl = 9};
    bench.send(kHostPort, ethernet_frame(kRouter, station(kHostPort), 0x0800, ipv4_packet(ip, payload)));
    ip.ttl = 8;
    const auto neighbour = static_cast<uint8_t>(neighbour_of(g, kHostPort % size_of(g)));
    expected.push_back({kFabricPort, ethernet_frame(station(neighbour), kRouter, 0x0800, ipv4_packet(ip, payload))});
  }
  EXPECT_EQ(bench.run(), expected);
}

}  // namespace
}  // namespace softspine::tests
