// SPDX-License-Identifier: Apache-2.0
// Published sizes, by the numbers of the papers and not by the generators' arithmetic; bisections by maximum flow, ways
// by breadth first search.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/topology/fabric_checks.hpp"
#include "tests/unit/topology/graph_oracle.hpp"

namespace softspine::control {
namespace {

using tests::count;
using tests::degrees;
using tests::GraphOracle;
using tests::hosts_of;
using tests::node_at;
using tests::testbed_of;
using Degrees = std::map<size_t, size_t>;

Fabric fabric_of(const std::string& parameters) {
  return testbed_of("fabric: {" + parameters + "}\n").fabric;
}

TEST(Published, AnHpnPodHas15360GpusOn30720NicPorts) {
  const Fabric fabric = fabric_of("kind: hpn, size: published");
  EXPECT_EQ(count(fabric, Role::kHost), 15'360u);
  EXPECT_EQ(degrees(fabric, Role::kHost), (Degrees{{2, 15'360}}));
  EXPECT_EQ(degrees(fabric, Role::kTor), (Degrees{{128 + 60, 240}}));
  EXPECT_EQ(degrees(fabric, Role::kAggregation), (Degrees{{120 + 8, 120}}));
  EXPECT_EQ(degrees(fabric, Role::kCore), (Degrees{{60, 16}}));
  EXPECT_EQ(fabric.links.size(), 30'720u + 240 * 60 + 120 * 8);
  tests::check_wiring(fabric);
  for (const FabricLink& link : fabric.links) {
    const bool host =
        fabric.nodes[link.a.node].kind == NodeKind::kHost || fabric.nodes[link.b.node].kind == NodeKind::kHost;
    ASSERT_EQ(link.rate, dataplane::Rate::gbps(host ? 200 : 400)) << fabric.name_of(link.a);
  }
}

TEST(Published, AnHpnSegmentIs1024GpusOn16Tors) {
  const Fabric fabric = fabric_of("kind: hpn, size: published-segment");
  EXPECT_EQ(count(fabric, Role::kHost), 1'024u);
  EXPECT_EQ(degrees(fabric, Role::kTor), (Degrees{{128 + 60, 16}}));
  EXPECT_EQ(count(fabric, Role::kCore), 0u);
}

TEST(Published, PlanesAreCarriedOnIntoTheCoreUnlessTheyMeetThere) {
  const std::string shape =
      "kind: hpn, pods: 2, segments: 2, servers_per_segment: 2, rails: 2, aggregations_per_plane: 4, cores: 8, "
      "core_uplinks: 2, host_link: {rate: 200Gbps}, fabric_link: {rate: 400Gbps}";
  const Fabric apart = fabric_of(shape);
  EXPECT_EQ(degrees(apart, Role::kCore), (Degrees{{2 * 4 * 2 / 4, 8}}));
  for (const FabricLink& link : apart.links) {  // also by name: p1-…, pod1-p1-…, core and aggregation alike
    const FabricNode& a = apart.nodes[link.a.node];
    const FabricNode& b = apart.nodes[link.b.node];
    if (a.kind == NodeKind::kSwitch && b.kind == NodeKind::kSwitch) {
      EXPECT_EQ(a.plane, b.plane) << a.name << " " << b.name;
    }
  }
  EXPECT_EQ(apart.nodes[node_at(apart, "p2-core1")].plane, 1u);
  // In either plane: 4 aggregation switches, 2 cores each, and each core meets 2 aggregation switches of the other pod.
  EXPECT_EQ(GraphOracle(apart).shortest_ways(node_at(apart, "pod1-s1-h1-nic1"), node_at(apart, "pod2-s1-h1-nic1")),
            2u * 4 * 2 * 2);

  const Fabric meet = fabric_of(shape + ", planes_meet: core");
  EXPECT_EQ(degrees(meet, Role::kCore), (Degrees{{2 * 2 * 4 * 2 / 8, 8}}));
  std::set<uint32_t> planes;
  for (uint16_t p = 0; p < meet.nodes[node_at(meet, "core1")].ports.size(); ++p)
    planes.insert(meet.nodes[meet.peer_of({node_at(meet, "core1"), p}).node].plane);
  EXPECT_EQ(planes, (std::set<uint32_t>{0, 1}));
}

TEST(Published, RailOnlyTier2JoinsTheTorsOfARailAlone) {
  const std::string shape =
      "kind: hpn, segments: 3, servers_per_segment: 2, rails: 4, aggregations_per_plane: 5, tier2: rail-only, "
      "host_link: {rate: 200Gbps}, fabric_link: {rate: 400Gbps}";
  const Fabric fabric = fabric_of(shape);
  EXPECT_EQ(degrees(fabric, Role::kAggregation), (Degrees{{3, 2 * 4 * 5}}));
  const GraphOracle oracle(fabric);
  for (const uint32_t n : oracle.reachable(node_at(fabric, "s1-h1-nic2"))) {
    if (fabric.nodes[n].kind != NodeKind::kHost) continue;
    EXPECT_TRUE(fabric.nodes[n].name.ends_with("-nic2")) << fabric.nodes[n].name;
    EXPECT_EQ(fabric.nodes[n].rail, 2u);
  }
  EXPECT_EQ(oracle.shortest_ways(node_at(fabric, "s1-h1-nic2"), node_at(fabric, "s3-h2-nic2")), 2u * 5);
  // With cores the rails meet there, each plane by itself.
  const Fabric joined = fabric_of(shape + ", cores: 2, core_uplinks: 1");
  EXPECT_EQ(GraphOracle(joined).reachable(0).size(), joined.nodes.size());
}

TEST(Published, AnAiZoneHas3072GpusAtFullBisection) {
  const Fabric fabric = fabric_of("kind: ai-zone, size: published");
  EXPECT_EQ(count(fabric, Role::kHost), 3'072u);
  EXPECT_EQ(degrees(fabric, Role::kTor), (Degrees{{16 + 16, 192}}));
  EXPECT_EQ(degrees(fabric, Role::kAggregation), (Degrees{{192, 16}}));
}

struct UplinkCase {
  const char* ratio;
  size_t uplinks;
};
class Uplinks : public testing::TestWithParam<UplinkCase> {};

TEST_P(Uplinks, OfARackFollowFromTheRatio) {
  const auto [ratio, uplinks] = GetParam();
  const Fabric fabric = fabric_of(fmt::format("kind: ai-zone, size: published, racks: 4, uplinks: {}", ratio));
  EXPECT_EQ(degrees(fabric, Role::kTor), (Degrees{{16 + uplinks, 4}}));
  const Fabric few = fabric_of(fmt::format("kind: ai-zone, size: published, racks: 4, uplinks: {}, ctsws: 2", ratio));
  EXPECT_EQ(degrees(few, Role::kTor), (Degrees{{16 + uplinks, 4}}));
  EXPECT_EQ(degrees(few, Role::kAggregation), (Degrees{{4 * uplinks / 2, 2}}));
  // What two racks can send to the two others: their uplinks, or their NICs, 400G each.
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
  for (uint32_t h = 1; h <= 8; ++h) {
    const auto hosts = hosts_of(fabric, fmt::format("z1-h{}-", h));
    (h <= 4 ? from : to).insert((h <= 4 ? from : to).end(), hosts.begin(), hosts.end());
  }
  EXPECT_EQ(GraphOracle(fabric).flow(from, to), static_cast<int64_t>(2 * std::min<size_t>(uplinks, 16) * 400'000));
}

INSTANTIATE_TEST_SUITE_P(Papers, Uplinks,
                         testing::Values(UplinkCase{"1:1", 16}, UplinkCase{"1:2", 32}, UplinkCase{"1:1.125", 18},
                                         UplinkCase{"2:1", 8}));

TEST(Published, EightZonesUnderAtswsAre24KGpusAtSevenToOne) {
  const Fabric fabric = fabric_of("kind: ai-zone, size: published-zones");
  EXPECT_EQ(count(fabric, Role::kHost), 24'576u);
  EXPECT_EQ(count(fabric, Role::kTor), 8u * 192);
  const Degrees ctsws = degrees(fabric, Role::kAggregation);
  ASSERT_EQ(ctsws.size(), 1u);
  const size_t up = ctsws.begin()->first - 192;
  EXPECT_LE(192.0 / static_cast<double>(up), 7.0);
  EXPECT_GT(192.0 / static_cast<double>(up - 1), 7.0) << "one uplink less would not do";
  EXPECT_EQ(degrees(fabric, Role::kCore), (Degrees{{8 * 16, up}}));
}

TEST(Published, BetweenZonesASeventhOfTheBandwidthIsLeft) {
  const Fabric fabric = fabric_of("kind: ai-zone, size: published-zones, zones: 2, racks: 7");
  // 7 racks of 16 NICs a zone: each CTSW has 7 links down, 1 up.
  EXPECT_EQ(GraphOracle(fabric).flow(hosts_of(fabric, "z1-"), hosts_of(fabric, "z2-")), 7 * 16 * 400'000 / 7);
}

TEST(Published, DcnPlusHas512GpusAPodAtFullBisectionUpToTheCore) {
  const Fabric fabric = fabric_of("kind: dcn-plus, size: published, pods: 2");
  EXPECT_EQ(count(fabric, Role::kHost), 2u * 4 * 128);
  EXPECT_EQ(degrees(fabric, Role::kHost), (Degrees{{2, 1'024}}));
  EXPECT_EQ(degrees(fabric, Role::kTor), (Degrees{{128 + 64, 2 * 4 * 2}}));     // 25.6T down, 25.6T up
  EXPECT_EQ(degrees(fabric, Role::kAggregation), (Degrees{{64 + 64, 2 * 8}}));  // 1:1 again
  EXPECT_EQ(degrees(fabric, Role::kCore), (Degrees{{2 * 8, 64}}));
  tests::check_wiring(fabric);
  EXPECT_EQ(GraphOracle(fabric).flow(hosts_of(fabric, "pod1-"), hosts_of(fabric, "pod2-")), 512 * 2 * 200'000);
}

TEST(Published, AFrontEndIsThreeTiersOfDualTorsAtOneToOne) {
  const Fabric fabric = fabric_of(
      "kind: front-end, pods: 2, segments: 2, servers_per_segment: 8, aggregations: 2, cores: 4, "
      "host_link: {rate: 200Gbps}, fabric_link: {rate: 400Gbps}");
  EXPECT_EQ(count(fabric, Role::kHost), 32u);
  EXPECT_EQ(degrees(fabric, Role::kHost), (Degrees{{2, 32}}));
  EXPECT_EQ(degrees(fabric, Role::kTor), (Degrees{{8 + 4, 8}}));
  EXPECT_EQ(degrees(fabric, Role::kAggregation), (Degrees{{8 + 8, 4}}));
  tests::check_wiring(fabric);
  tests::check_addresses(fabric);
  EXPECT_EQ(GraphOracle(fabric).flow(hosts_of(fabric, "pod1-"), hosts_of(fabric, "pod2-")), 16 * 2 * 200'000);
}

TEST(Published, AFatTreeOf48PortsHas27648Hosts) {
  const Fabric fabric =
      fabric_of("kind: fat-tree, size: published, host_link: {rate: 400Gbps}, fabric_link: {rate: 400Gbps}");
  EXPECT_EQ(count(fabric, Role::kHost), 27'648u);
  for (const Role role : {Role::kTor, Role::kAggregation}) EXPECT_EQ(degrees(fabric, role), (Degrees{{48, 1'152}}));
  EXPECT_EQ(degrees(fabric, Role::kCore), (Degrees{{48, 576}}));
  EXPECT_EQ(GraphOracle(fabric).shortest_ways(node_at(fabric, "h1"), node_at(fabric, "h27648")), 24u * 24);
}

TEST(FatTrees, HaveFullBisectionAndAQuarterOfKSquaredWays) {
  for (const uint32_t k : {2u, 4u, 6u, 8u}) {
    const Fabric fabric =
        fabric_of(fmt::format("kind: fat-tree, k: {}, host_link: {{rate: 1Gbps}}, fabric_link: {{rate: 1Gbps}}", k));
    const std::vector<uint32_t> hosts = hosts_of(fabric, "h");
    GraphOracle oracle(fabric);
    EXPECT_EQ(oracle.shortest_ways(hosts.front(), hosts.back()), k * k / 4);
    const auto middle = hosts.begin() + static_cast<ptrdiff_t>(hosts.size() / 2);
    EXPECT_EQ(oracle.flow({hosts.begin(), middle}, {middle, hosts.end()}), k * k * k / 8 * 1'000);
  }
}

TEST(FatTrees, ABinaryOneGrowsTowardsItsRoot) {
  for (const uint32_t levels : {1u, 2u, 3u}) {
    const Fabric fabric =
        fabric_of(fmt::format("kind: 2-ary-fat-tree, levels: {}, host_link: {{rate: 1Gbps}}", levels));
    const uint64_t hosts = uint64_t{1} << levels;
    EXPECT_EQ(count(fabric, Role::kHost), hosts);
    EXPECT_EQ(fabric.nodes.size(), 2 * hosts - 1);  // of a full binary tree
    EXPECT_EQ(fabric.links.size(), hosts * levels);
    tests::check_wiring(fabric);
    const std::vector<uint32_t> all = hosts_of(fabric, "h");
    const auto middle = all.begin() + static_cast<ptrdiff_t>(hosts / 2);
    EXPECT_EQ(GraphOracle(fabric).flow({all.begin(), middle}, {middle, all.end()}),
              static_cast<int64_t>(hosts / 2) * 1'000);
  }
}

TEST(OneSwitch, IsAStarOrACrossbar) {
  const Fabric star = fabric_of("kind: star, hosts: 48, host_link: {rate: 50Gbps}");
  EXPECT_EQ(degrees(star, Role::kTor), (Degrees{{48, 1}}));
  EXPECT_EQ(star.subnets.size(), 1u) << "one layer 2";
  const Fabric crossbar = fabric_of("kind: crossbar, inputs: 3, outputs: 5, host_link: {rate: 50Gbps}");
  EXPECT_EQ(degrees(crossbar, Role::kTor), (Degrees{{8, 1}}));
  EXPECT_EQ(hosts_of(crossbar, "in").size(), 3u);
  EXPECT_EQ(hosts_of(crossbar, "out").size(), 5u);
}

}  // namespace
}  // namespace softspine::control
