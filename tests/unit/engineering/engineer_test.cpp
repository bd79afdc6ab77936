// SPDX-License-Identifier: Apache-2.0
// From demands to overrides: which ToRs get them, what loads the links beside them.
#include "control/engineering/engineer.hpp"

#include <gtest/gtest.h>

#include <set>

#include "control/routing/next_hops.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::read_well;

constexpr std::string_view kZone =
    "name: zone\n"
    "fabric: {kind: leaf-spine, tors: 3, spines: 4, hosts_per_tor: 4,\n"
    "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
    "traffic_engineering: {interval: 100us, at: [tor1, tor2]}\n";

uint32_t node_of(const Testbed& testbed, std::string_view name) {
  const auto& nodes = testbed.fabric.nodes;
  return static_cast<uint32_t>(std::ranges::find(nodes, name, &FabricNode::name) - nodes.begin());
}

FlowDemand demand(const Testbed& testbed, std::string_view from, std::string_view to, double gbps) {
  return {.at = testbed.fabric.peer_of({node_of(testbed, from), 0}), .to = node_of(testbed, to), .bps = gbps * 1e9};
}

std::vector<RouteTable> routes_of(const Testbed& testbed, const std::vector<uint32_t>& down = {}) {
  std::vector<bool> up(testbed.fabric.links.size(), true);
  for (const uint32_t link : down) up[link] = false;
  return compute_routes(testbed.fabric, up);
}

TEST(Engineer, GivesEveryFlowOfAToRAnUplinkOfItsOwn) {
  const Testbed testbed = read_well(kZone);
  const std::vector<FlowDemand> demands{demand(testbed, "h1", "h5", 90), demand(testbed, "h2", "h6", 90),
                                        demand(testbed, "h3", "h7", 90), demand(testbed, "h4", "h8", 90)};
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), demands, {});
  EXPECT_EQ(plan.demands, 4u);
  EXPECT_EQ(plan.placed, 4u);
  EXPECT_DOUBLE_EQ(plan.highest, 0.9);
  const auto& overrides = plan.overrides.at(node_of(testbed, "tor1"));
  ASSERT_EQ(overrides.size(), 8u) << "IPv4 and IPv6";
  std::set<uint16_t> ports;
  for (const Override& each : overrides) {
    ports.insert(each.out_port);
    EXPECT_TRUE(each.is_engineered);
  }
  EXPECT_EQ(ports.size(), 4u);
  EXPECT_TRUE(plan.overrides.at(node_of(testbed, "tor2")).empty()) << "where nothing comes in";
  EXPECT_FALSE(plan.overrides.contains(node_of(testbed, "tor3"))) << "which is not the controller's";
}

// An exact match for each of the host's addresses, on the port by which the flow comes in.
TEST(Engineer, GivesAFlowOneOverrideForEachIpVersion) {
  const Testbed testbed = read_well(kZone);
  const FlowDemand flow = demand(testbed, "h2", "h7", 40);
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), {flow}, {});
  const FabricNode& host = testbed.fabric.nodes[flow.to];
  const std::vector<Override>& made = plan.overrides.at(flow.at.node);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(std::get<Ipv4Prefix>(made[0].to), (Ipv4Prefix{host.ipv4, 32}));
  EXPECT_EQ(std::get<Ipv6Prefix>(made[1].to), (Ipv6Prefix{host.ipv6, 128}));
  for (const Override& each : made) {
    EXPECT_EQ(each.node, flow.at.node);
    EXPECT_EQ(each.in_port, flow.at.port);
    EXPECT_EQ(each.out_port, made[0].out_port);
  }
  EXPECT_EQ(plan.moved, 0u) << "it had none before";
}

// Two flows on one uplink, 90 Gb/s each: one of them has to go, and that is counted once.
TEST(Engineer, CountsTheFlowsThatItMoves) {
  const Testbed testbed = read_well(kZone);
  const auto routes = routes_of(testbed);
  const std::vector<FlowDemand> demands{demand(testbed, "h1", "h5", 90), demand(testbed, "h2", "h6", 90)};
  std::map<uint32_t, std::vector<Override>> before = engineer(testbed, routes, demands, {}).overrides;
  const uint32_t tor1 = node_of(testbed, "tor1");
  for (Override& each : before[tor1]) each.out_port = before[tor1][0].out_port;
  const EngineeringPlan plan = engineer(testbed, routes, demands, before);
  EXPECT_EQ(plan.placed, 2u);
  EXPECT_EQ(plan.moved, 1u);
  EXPECT_DOUBLE_EQ(plan.highest, 0.9);
}

TEST(Engineer, AvoidsWhatOthersLoadFurtherOn) {
  const Testbed testbed = read_well(kZone);
  // The spines' links to tor3 have what tor1 placed there; tor2's flow takes another spine.
  const std::vector<FlowDemand> demands{demand(testbed, "h1", "h9", 90), demand(testbed, "h5", "h10", 80)};
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), demands, {});
  const uint16_t first = plan.overrides.at(node_of(testbed, "tor1")).at(0).out_port;
  const uint16_t second = plan.overrides.at(node_of(testbed, "tor2")).at(0).out_port;
  EXPECT_NE(first, second);
  EXPECT_DOUBLE_EQ(plan.highest, 0.9);
}

TEST(Engineer, CountsUnplacedFlowsAsEcmpSpreadsThem) {
  const Testbed testbed = read_well(kZone);
  // tor3 is not the controller's: 80 Gb/s over four spines are 20 on each, also down to tor1.
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), {demand(testbed, "h9", "h1", 80)}, {});
  EXPECT_EQ(plan.demands, 0u);
  EXPECT_DOUBLE_EQ(plan.highest, 0.2);
}

TEST(Engineer, CountsFlowsThatFitNowhereAsEcmpSpreadsThem) {
  const Testbed testbed = read_well(kZone);
  // 90 Gb/s on each of four uplinks; 40 more fit on none, and come to 10 on each.
  const std::vector<FlowDemand> demands{demand(testbed, "h1", "h5", 90), demand(testbed, "h2", "h6", 90),
                                        demand(testbed, "h3", "h7", 90), demand(testbed, "h4", "h8", 90),
                                        demand(testbed, "h1", "h9", 40)};
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), demands, {});
  EXPECT_EQ(plan.demands, 5u);
  EXPECT_EQ(plan.placed, 4u);
  EXPECT_DOUBLE_EQ(plan.highest, 1);
}

TEST(Engineer, CountsFlowsWithoutRoomForAnOverrideAsEcmpSpreadsThem) {
  // Two overrides a flow, IPv4 and IPv6: 2,048 flows of a switch fill its table.
  const Testbed testbed = read_well(
      "name: zone\n"
      "fabric: {kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 64,\n"
      "  host_link: {rate: 800Gbps}, fabric_link: {rate: 800Gbps}}\n"
      "traffic_engineering: {interval: 100us, at: [tor1]}\n");
  std::vector<FlowDemand> demands;
  for (int from = 1; from <= 32; ++from) {
    for (int to = 65; to <= 128; ++to) {
      demands.push_back(demand(testbed, "h" + std::to_string(from), "h" + std::to_string(to), 1));
    }
  }
  demands.push_back(demand(testbed, "h33", "h65", 1));
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), demands, {});
  EXPECT_EQ(plan.demands, 2'049u);
  EXPECT_EQ(plan.placed, 2'048u);
  EXPECT_EQ(plan.overrides.at(node_of(testbed, "tor1")).size(), kMaxOverrides);
  // 2,048 alike are 512 on each uplink, and a quarter of the last is on each.
  EXPECT_NEAR(plan.highest, 512.25 / 800, 1e-9);
}

TEST(Engineer, LeavesLinksThatRoutesHaveLeft) {
  const Testbed testbed = read_well(kZone);
  const uint32_t tor1 = node_of(testbed, "tor1");
  const uint32_t tor2 = node_of(testbed, "tor2");
  const uint32_t spine1 = node_of(testbed, "spine1");
  // spine1 has lost tor2: its link to tor1 is up, and leads there no longer.
  const uint16_t port = ports_between(testbed.fabric, spine1, tor2).at(0);
  const auto routes = routes_of(testbed, {testbed.fabric.port({spine1, port}).link});
  std::vector<FlowDemand> demands;
  for (const auto* pair : {"h1 h5", "h2 h6", "h3 h7"}) {
    const std::string_view text = pair;
    demands.push_back(demand(testbed, text.substr(0, 2), text.substr(3), 100));
  }
  const EngineeringPlan plan = engineer(testbed, routes, demands, {});
  EXPECT_EQ(plan.placed, 3u);
  EXPECT_DOUBLE_EQ(plan.highest, 1);
  const uint16_t to_spine1 = ports_between(testbed.fabric, tor1, spine1).at(0);
  for (const Override& each : plan.overrides.at(tor1)) EXPECT_NE(each.out_port, to_spine1);
}

TEST(Engineer, MovesNobodyWithoutAReason) {
  const Testbed testbed = read_well(kZone);
  const auto routes = routes_of(testbed);
  std::vector<FlowDemand> demands{demand(testbed, "h1", "h5", 90), demand(testbed, "h2", "h6", 90.1),
                                  demand(testbed, "h3", "h7", 89.9)};
  const EngineeringPlan first = engineer(testbed, routes, demands, {});
  std::swap(demands[1].bps, demands[2].bps);  // the order in which they are placed
  const EngineeringPlan again = engineer(testbed, routes, demands, first.overrides);
  EXPECT_EQ(again.moved, 0u);
  EXPECT_EQ(again.overrides, first.overrides);
  demands[0] = demand(testbed, "h1", "h5", 0.001);
  demands.push_back(demand(testbed, "h4", "h8", 90));
  EXPECT_EQ(engineer(testbed, routes, demands, first.overrides).placed, 4u);
}

// tor1 reaches spine1 by a LAG of three links, and spine2 by one: of four flows of 90 Gb/s three go by the LAG.
TEST(Engineer, TakesALagForOneLinkWithTheRateOfItsMembers) {
  const Testbed testbed = read_well(
      "name: lag\n"
      "fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4,\n"
      "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
      "topology:\n  links: [{endpoints: [tor1, spine1], rate: 100Gbps}, {endpoints: [tor1, spine1], rate: 100Gbps},\n"
      "    {endpoints: [tor2, spine1], rate: 100Gbps}, {endpoints: [tor2, spine1], rate: 100Gbps}]\n"
      "  lags: [{name: a, between: [tor1, spine1]}, {name: b, between: [tor2, spine1]}]\n"
      "traffic_engineering: {interval: 100us, at: [tor1]}\n");
  const std::vector<FlowDemand> demands{demand(testbed, "h1", "h5", 90), demand(testbed, "h2", "h6", 90),
                                        demand(testbed, "h3", "h7", 90), demand(testbed, "h4", "h8", 90)};
  const uint32_t tor1 = node_of(testbed, "tor1");
  const auto by_lag = [&](const EngineeringPlan& plan) {
    return std::ranges::count_if(plan.overrides.at(tor1), [&](const Override& each) {
      return testbed.fabric.lag_of({tor1, each.out_port}) != nullptr;
    });
  };
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), demands, {});
  EXPECT_EQ(plan.placed, 4u);
  EXPECT_EQ(by_lag(plan), 2 * 3) << "IPv4 and IPv6";
  EXPECT_DOUBLE_EQ(plan.highest, 0.9);
  // Of its members two are left: 90 + 90 of 200 Gb/s, 90 on the other link, and the fourth is half on each by ECMP.
  std::vector<bool> two(testbed.fabric.links.size(), true);
  for (const Lag& lag : testbed.fabric.lags) two[lag.links[0]] = false;
  const EngineeringPlan fewer = engineer(testbed, routes_of(testbed), demands, {}, two);
  EXPECT_EQ(fewer.placed, 3u);
  EXPECT_EQ(by_lag(fewer), 2 * 2);
  EXPECT_DOUBLE_EQ(fewer.highest, 1.35);
  // Of its members one is left: it and the other link take one flow each, and two fit nowhere: 90 + 90 / 2 on each.
  std::vector<bool> members(testbed.fabric.links.size(), true);
  for (const Lag& lag : testbed.fabric.lags) members[lag.links[0]] = members[lag.links[2]] = false;
  const EngineeringPlan less = engineer(testbed, routes_of(testbed), demands, {}, members);
  EXPECT_EQ(less.placed, 2u);
  EXPECT_EQ(by_lag(less), 2);
  EXPECT_DOUBLE_EQ(less.highest, 1.8);
}

TEST(Engineer, PlacesNothingBehindTheSameToR) {
  const Testbed testbed = read_well(kZone);
  const EngineeringPlan plan = engineer(testbed, routes_of(testbed), {demand(testbed, "h1", "h2", 50)}, {});
  EXPECT_EQ(plan.demands, 0u);
  EXPECT_DOUBLE_EQ(plan.highest, 0);
}

}  // namespace
}  // namespace softspine::control
