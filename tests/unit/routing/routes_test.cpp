// SPDX-License-Identifier: Apache-2.0
// Routes against an independent, slow reference: every walk that goes up, then down, tried out.
#include "control/routing/routes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "control/load/load.hpp"
#include "control/routing/mixed_routes.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

Testbed testbed_of(const std::string& fabric) {
  auto testbed = parse_testbed("name: t\n" + fabric, "t.yaml");
  EXPECT_TRUE(testbed) << to_string(testbed.error().front());
  return *testbed;
}

const char* const kLeafSpine = R"(
fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 2, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
)";
const char* const kFatTree = "fabric: {kind: fat-tree, k: 4, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\n";
const char* const kHpn = R"(
fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 2, planes: 2, aggregations_per_plane: 2, cores: 2,
         host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
)";
// A ring of switches of one tier: links sideways.
const char* const kRing = R"(
topology:
  nodes: {a: {kind: switch}, b: {kind: switch}, c: {kind: switch}, d: {kind: switch},
          h1: {kind: host}, h2: {kind: host}, h3: {kind: host}, h4: {kind: host}}
  links:
    - {endpoints: [a, b], rate: 1Gbps}
    - {endpoints: [b, c], rate: 1Gbps}
    - {endpoints: [c, d], rate: 1Gbps}
    - {endpoints: [d, a], rate: 1Gbps}
    - {endpoints: [a, h1], rate: 1Gbps}
    - {endpoints: [b, h2], rate: 1Gbps}
    - {endpoints: [c, h3], rate: 1Gbps}
    - {endpoints: [d, h4], rate: 1Gbps}
)";

// Of one destination: the first ports of the best walks from a switch. A walk that only goes down (or sideways)
// beats any that goes up first; of each kind the shortest count.
class Reference {
 public:
  Reference(const Fabric& fabric, const std::vector<bool>& up) : fabric_(fabric), up_(up) {}

  std::set<uint16_t> ports(uint32_t from, const std::set<uint32_t>& to) const {
    if (const auto down = first_ports(from, to, false); !down.empty()) return down;
    return first_ports(from, to, true);
  }

 private:
  // Walks of growing length, until some of them arrive.
  std::set<uint16_t> first_ports(uint32_t from, const std::set<uint32_t>& to, bool may_go_up) const {
    for (int length = 1; length <= 8; ++length) {
      std::set<uint16_t> out;
      for (uint16_t p = 0; p < fabric_.nodes[from].ports.size(); ++p) {
        const auto [next, is_up] = step(from, p);
        if (next == kNone || is_up != may_go_up) continue;
        if (arrives(next, to, length - 1, is_up)) out.insert(p);
      }
      if (!out.empty()) return out;
    }
    return {};
  }
  bool arrives(uint32_t at, const std::set<uint32_t>& to, int steps, bool may_go_up) const {
    if (steps == 0) return to.contains(at);
    // Who can go down does: a switch above is left upwards only if it has no way down.
    const bool has_way_down = may_go_up && !to.contains(at) && !first_ports(at, to, false).empty();
    for (uint16_t p = 0; p < fabric_.nodes[at].ports.size(); ++p) {
      const auto [next, is_up] = step(at, p);
      if (next == kNone || (is_up && (!may_go_up || has_way_down))) continue;
      if (arrives(next, to, steps - 1, may_go_up && is_up)) return true;
    }
    return false;
  }
  std::pair<uint32_t, bool> step(uint32_t from, uint16_t port) const {
    const uint32_t link = fabric_.nodes[from].ports[port].link;
    const uint32_t peer = fabric_.peer_of({from, port}).node;
    if (!up_[link] || fabric_.nodes[peer].kind != NodeKind::kSwitch) return {kNone, false};
    return {peer, fabric_.nodes[peer].role > fabric_.nodes[from].role};
  }

  const Fabric& fabric_;
  const std::vector<bool>& up_;
};

std::set<uint32_t> attached(const Fabric& fabric, const std::vector<bool>& up, uint32_t host) {
  std::set<uint32_t> out;
  for (uint16_t p = 0; p < fabric.nodes[host].ports.size(); ++p) {
    if (up[fabric.nodes[host].ports[p].link]) out.insert(fabric.peer_of({host, p}).node);
  }
  return out;
}

std::set<uint16_t> ports_of(const RouteTable& table, uint32_t route) {
  if (route == kNone || route == RouteTable::kConnected) return {};
  return {table.groups[route].begin(), table.groups[route].end()};
}

void expect_as_reference(const Fabric& fabric, const std::vector<bool>& up) {
  const auto tables = compute_routes(fabric, up);
  const Reference reference(fabric, up);
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind != NodeKind::kSwitch) continue;
    for (uint32_t h = 0; h < fabric.nodes.size(); ++h) {
      const FabricNode& host = fabric.nodes[h];
      if (host.kind != NodeKind::kHost) continue;
      const auto to = attached(fabric, up, h);
      if (to.empty() || to.contains(n)) continue;
      const auto own = tables[n].by_host.find(h);
      const uint32_t route = own != tables[n].by_host.end() ? own->second : tables[n].by_subnet[host.subnet];
      EXPECT_EQ(ports_of(tables[n], route), reference.ports(n, to)) << fabric.nodes[n].name << " to " << host.name;
    }
    for (uint32_t s = 0; s < fabric.nodes.size(); ++s) {
      if (fabric.nodes[s].kind != NodeKind::kSwitch || s == n) continue;
      EXPECT_EQ(ports_of(tables[n], tables[n].by_switch[s]), reference.ports(n, {s}))
          << fabric.nodes[n].name << " to " << fabric.nodes[s].name;
    }
  }
}

// Whatever the hash chooses, a packet that follows the tables arrives, and never meets a switch twice.
void expect_no_loop(const Fabric& fabric, const std::vector<bool>& up) {
  const auto tables = compute_routes(fabric, up);
  for (uint32_t s = 0; s < fabric.subnets.size(); ++s) {
    for (uint32_t from = 0; from < fabric.nodes.size(); ++from) {
      if (fabric.nodes[from].kind != NodeKind::kSwitch) continue;
      std::set<uint32_t> on_the_way;
      const std::function<void(uint32_t)> follow = [&](uint32_t at) {
        ASSERT_TRUE(on_the_way.insert(at).second) << "a loop at " << fabric.nodes[at].name;
        for (const uint16_t port : ports_of(tables[at], tables[at].by_subnet[s]))
          follow(fabric.peer_of({at, port}).node);
        on_the_way.erase(at);
      };
      follow(from);
    }
  }
}

class Routes : public testing::TestWithParam<const char*> {};

TEST_P(Routes, AreAllShortestUpThenDownPaths) {
  const Testbed testbed = testbed_of(GetParam());
  const std::vector<bool> up(testbed.fabric.links.size(), true);
  expect_as_reference(testbed.fabric, up);
  expect_no_loop(testbed.fabric, up);
}

TEST_P(Routes, FollowLinksThatAreDown) {
  const Testbed testbed = testbed_of(GetParam());
  dataplane::Rng rng{tests::seed(), 1};
  for (int round = 0; round < 30; ++round) {
    std::vector<bool> up(testbed.fabric.links.size(), true);
    const uint64_t broken = 1 + rng.below(up.size() / 3);
    for (uint64_t i = 0; i < broken; ++i) up[rng.below(up.size())] = false;
    expect_as_reference(testbed.fabric, up);
    expect_no_loop(testbed.fabric, up);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Routes, testing::Values(kLeafSpine, kFatTree, kHpn, kRing));

TEST(RoutesOfALeafSpine, UseEverySpineForARemoteSubnetAndNoneForTheirOwn) {
  const Testbed testbed = testbed_of(kLeafSpine);
  const auto tables = compute_routes(testbed.fabric, std::vector<bool>(testbed.fabric.links.size(), true));
  const Fabric& fabric = testbed.fabric;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].role != Role::kTor) continue;
    for (uint32_t s = 0; s < fabric.subnets.size(); ++s) {
      const bool own = std::ranges::find(fabric.subnets[s].switches, n) != fabric.subnets[s].switches.end();
      const uint32_t route = tables[n].by_subnet[s];
      if (own) {
        EXPECT_EQ(route, RouteTable::kConnected);
      } else {
        EXPECT_EQ(ports_of(tables[n], route).size(), 2U);
      }
    }
    EXPECT_TRUE(tables[n].by_host.empty());
  }
}

// Two racks of two hosts with two ports each; the ToRs of the first are a stack, with two links between them.
const char* const kStack = R"(
fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 1, aggregations_per_plane: 2, cores: 0,
         host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
topology:
  links:
    - {endpoints: [s1-r1-tor1, s1-r1-tor2], rate: 1Gbps}
    - {endpoints: [s1-r1-tor1, s1-r1-tor2], rate: 1Gbps}
  stacks: {rack: {switches: [s1-r1-tor1, s1-r1-tor2]}}
)";

// Others send to either member while one reaches the other; a member without any way sends to the other one.
void expect_as_stacked(const Fabric& fabric, const std::vector<bool>& up) {
  const Stack& stack = fabric.stacks[0];
  std::map<uint32_t, std::set<uint16_t>> aside;  // by member
  for (const uint32_t link : stack.peer_links) {
    if (!up[link]) continue;
    for (const LinkEnd end : {fabric.links[link].a, fabric.links[link].b}) aside[end.node].insert(end.port);
  }
  const auto tables = compute_routes(fabric, up);
  const Reference reference(fabric, up);
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind != NodeKind::kSwitch) continue;
    const uint32_t other = stack.switches[stack.switches[0] == n ? 1 : 0];
    for (uint32_t h = 0; h < fabric.nodes.size(); ++h) {
      const FabricNode& host = fabric.nodes[h];
      if (host.kind != NodeKind::kHost) continue;
      auto to = attached(fabric, up, h);
      if (to.empty() || to.contains(n)) continue;
      const bool of_stack = fabric.subnets[host.subnet].switches[0] == std::ranges::min(stack.switches);
      if (of_stack && !aside.empty() && !aside.contains(n)) to = {stack.switches[0], stack.switches[1]};
      auto expected = reference.ports(n, to);
      const bool other_has_way = aside.contains(n) && (to.contains(other) || !reference.ports(other, to).empty());
      if (expected.empty() && other_has_way) expected = aside[n];
      const auto own = tables[n].by_host.find(h);
      const uint32_t route = own != tables[n].by_host.end() ? own->second : tables[n].by_subnet[host.subnet];
      EXPECT_EQ(ports_of(tables[n], route), expected) << fabric.nodes[n].name << " to " << host.name;
    }
  }
  EXPECT_EQ(loop_in(fabric, tables), std::vector<uint32_t>{});
}

// The two links as a LAG that is down with one: then nothing leads aside.
TEST(RoutesOfAStack, LeaveAPeerLinkThatIsALagBelowMinLinks) {
  std::string text = kStack;
  text += "  lags: [{name: peer, between: [s1-r1-tor1, s1-r1-tor2], min_links: 2}]\n";
  const Testbed testbed = testbed_of(text);
  const Fabric& fabric = testbed.fabric;
  const Stack& stack = fabric.stacks[0];
  const uint32_t tor = stack.switches[0];
  const uint32_t remote = fabric.subnets[1].switches[0] == tor ? 0 : 1;
  std::vector<bool> up(fabric.links.size(), true);
  for (const FabricPort& port : fabric.nodes[tor].ports) {  // it has lost all its uplinks
    const FabricLink& link = fabric.links[port.link];
    const uint32_t peer = link.a.node == tor ? link.b.node : link.a.node;
    if (fabric.nodes[peer].role == Role::kAggregation) up[port.link] = false;
  }
  const auto ways = [&] {
    const auto tables = compute_routes(fabric, up);
    return ports_of(tables[tor], tables[tor].by_subnet[remote]);
  };
  EXPECT_EQ(ways(), std::set{fabric.lags[0].ports_at(tor).front()}) << "the LAG is one way";
  up[stack.peer_links[0]] = false;
  EXPECT_EQ(ways(), std::set<uint16_t>{});
}

TEST(RoutesOfAStack, TakeThePeerLinkWhereAMemberHasNoOtherWay) {
  const Testbed testbed = testbed_of(kStack);
  ASSERT_EQ(testbed.fabric.stacks.size(), 1U);
  dataplane::Rng rng{tests::seed(), 1};
  for (int round = 0; round < 300; ++round) {
    std::vector<bool> up(testbed.fabric.links.size(), true);
    for (uint64_t i = 0, broken = rng.below(up.size() / 2); i < broken; ++i) up[rng.below(up.size())] = false;
    expect_as_stacked(testbed.fabric, up);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace softspine::control
