// SPDX-License-Identifier: Apache-2.0
// Generators against closed formulas: of Al-Fares et al. (SIGCOMM 2008) for the fat tree, of the HPN and AI-zone
// papers (SIGCOMM 2024) for theirs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/generators/generators.hpp"
#include "tests/unit/topology/fabric_checks.hpp"

namespace softspine::control {
namespace {

using tests::count;
using tests::neighbours;
using tests::testbed_of;
using Names = std::vector<std::string>;

constexpr const char* kLinks = "host_link: {rate: 100Gbps, length: 5m}, fabric_link: {rate: 400Gbps, length: 40m}";

size_t most_ports(const Fabric& fabric) {
  size_t most = 0;
  for (const FabricNode& node : fabric.nodes) {
    if (node.kind == NodeKind::kSwitch) most = std::max(most, node.ports.size());
  }
  return most;
}

void check_size(const Fabric& fabric, const Size& size) {
  EXPECT_EQ(static_cast<double>(fabric.nodes.size()), size.nodes);
  EXPECT_EQ(static_cast<double>(fabric.links.size()), size.links);
  EXPECT_EQ(static_cast<double>(most_ports(fabric)), size.ports);
}

struct LeafSpineCase {
  uint32_t tors, spines, hosts, parallel;
};
class LeafSpineOf : public testing::TestWithParam<LeafSpineCase> {};

TEST_P(LeafSpineOf, IsAFullMesh) {
  const auto [tors, spines, hosts, parallel] = GetParam();
  const Fabric fabric =
      testbed_of(
          fmt::format("fabric: {{kind: leaf-spine, tors: {}, spines: {}, hosts_per_tor: {}, links_per_spine: {}, {}}}",
                      tors, spines, hosts, parallel, kLinks))
          .fabric;
  EXPECT_EQ(count(fabric, Role::kTor), tors);
  EXPECT_EQ(count(fabric, Role::kAggregation), spines);
  EXPECT_EQ(count(fabric, Role::kHost), tors * hosts);
  EXPECT_EQ(fabric.links.size(), tors * hosts + tors * spines * parallel);
  tests::check_wiring(fabric);
  tests::check_addresses(fabric);
  check_size(fabric,
             size_of(LeafSpine{.tors = tors, .spines = spines, .hosts_per_tor = hosts, .links_per_spine = parallel}));
  for (uint32_t s = 1; s <= spines; ++s) {
    Names expected;
    for (uint32_t t = 1; t <= tors; ++t) expected.insert(expected.end(), parallel, "tor" + std::to_string(t));
    EXPECT_EQ(neighbours(fabric, "spine" + std::to_string(s)), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LeafSpineOf,
                         testing::Values(LeafSpineCase{4, 4, 4, 1}, LeafSpineCase{1, 0, 300, 1},
                                         LeafSpineCase{7, 3, 5, 4}, LeafSpineCase{2, 9, 0, 1},
                                         LeafSpineCase{30, 16, 8, 1}));

class FatTreeOf : public testing::TestWithParam<uint32_t> {};

TEST_P(FatTreeOf, HasTheCountsOfThePaper) {
  const uint32_t k = GetParam();
  const Fabric fabric = testbed_of(fmt::format("fabric: {{kind: fat-tree, k: {}, {}}}", k, kLinks)).fabric;
  EXPECT_EQ(count(fabric, Role::kHost), k * k * k / 4);
  EXPECT_EQ(count(fabric, Role::kTor), k * k / 2);
  EXPECT_EQ(count(fabric, Role::kAggregation), k * k / 2);
  EXPECT_EQ(count(fabric, Role::kCore), k * k / 4);
  EXPECT_EQ(fabric.links.size(), 3 * k * k * k / 4);
  tests::check_wiring(fabric);
  tests::check_addresses(fabric);
  check_size(fabric, size_of(FatTree{.k = k}));
  for (const FabricNode& node : fabric.nodes) {
    if (node.kind == NodeKind::kSwitch) {
      EXPECT_EQ(node.ports.size(), k) << node.name;
    }
  }
  // Core i's port j goes to pod j; the cores of one aggregation switch are k/2 neighbours.
  for (uint32_t core = 0; core < k * k / 4; ++core) {
    Names expected;
    for (uint32_t pod = 1; pod <= k; ++pod) expected.push_back(fmt::format("p{}-agg{}", pod, core / (k / 2) + 1));
    EXPECT_EQ(neighbours(fabric, "core" + std::to_string(core + 1)), expected);
  }
  // Within a pod every aggregation switch meets every ToR.
  for (uint32_t a = 1; a <= k / 2; ++a) {
    const Names found = neighbours(fabric, fmt::format("p{}-agg{}", k, a));
    for (uint32_t t = 1; t <= k / 2; ++t) EXPECT_EQ(std::ranges::count(found, fmt::format("p{}-tor{}", k, t)), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FatTreeOf, testing::Values(2, 4, 6, 8, 12));

TEST(FatTree, TakesItsCoreLinksFromCoreLinkIfGiven) {
  const Fabric fabric = testbed_of("fabric: {kind: fat-tree, k: 4, hosts_per_tor: 1, core_link: {rate: 800Gbps}, " +
                                   std::string(kLinks) + "}")
                            .fabric;
  EXPECT_EQ(count(fabric, Role::kHost), 8u);
  for (const FabricLink& link : fabric.links) {
    const Role a = fabric.nodes[link.a.node].role;
    const Role b = fabric.nodes[link.b.node].role;
    const bool core = a == Role::kCore || b == Role::kCore;
    const bool host = a == Role::kHost || b == Role::kHost;
    EXPECT_EQ(link.rate, dataplane::Rate::gbps(core ? 800 : host ? 100 : 400));
  }
}

struct HpnCase {
  uint32_t segments, servers, rails, planes, aggregations, cores, uplinks;
};
class HpnOf : public testing::TestWithParam<HpnCase> {};

TEST_P(HpnOf, HasDualTorsAndDisjointPlanes) {
  const HpnCase c = GetParam();
  const Fabric fabric =
      testbed_of(fmt::format("fabric: {{kind: hpn, segments: {}, servers_per_segment: {}, rails: {}, planes: {}, "
                             "aggregations_per_plane: {}, cores: {}, core_uplinks: {}, {}}}",
                             c.segments, c.servers, c.rails, c.planes, c.aggregations, c.cores, c.uplinks, kLinks))
          .fabric;
  const uint32_t tors = 2 * c.segments * c.rails;
  const uint32_t nics = c.segments * c.servers * c.rails;
  const uint32_t aggregations = c.planes * c.aggregations;
  EXPECT_EQ(count(fabric, Role::kTor), tors);
  EXPECT_EQ(count(fabric, Role::kHost), nics);
  EXPECT_EQ(count(fabric, Role::kAggregation), aggregations);
  EXPECT_EQ(count(fabric, Role::kCore), c.cores);
  EXPECT_EQ(fabric.links.size(), 2 * nics + tors * c.aggregations + (c.cores > 0 ? aggregations * c.uplinks : 0));
  tests::check_wiring(fabric);
  tests::check_addresses(fabric);
  check_size(fabric, size_of(Hpn{.segments = c.segments,
                                 .servers_per_segment = c.servers,
                                 .rails = c.rails,
                                 .planes = c.planes,
                                 .aggregations_per_plane = c.aggregations,
                                 .cores = c.cores,
                                 .core_uplinks = c.uplinks}));
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    if (node.role == Role::kTor) {
      EXPECT_EQ(node.ports.size(), c.servers + c.aggregations) << node.name;
    }
    if (node.kind != NodeKind::kHost) continue;
    // Port 0 to plane 1, port 1 to plane 2, one address, one subnet, two gateways.
    ASSERT_EQ(node.ports.size(), 2u) << node.name;
    for (uint16_t p = 0; p < 2; ++p)
      EXPECT_EQ(fabric.nodes[fabric.peer_of({n, p}).node].plane, c.planes == 2 ? p : 0) << node.name;
    EXPECT_EQ(fabric.subnets[node.subnet].switches.size(), 2u) << node.name;
    EXPECT_EQ(fabric.subnets[node.subnet].hosts.size(), c.servers) << node.name;
  }
  for (const FabricLink& link : fabric.links) {  // no way from plane to plane, in the core neither
    const FabricNode& a = fabric.nodes[link.a.node];
    const FabricNode& b = fabric.nodes[link.b.node];
    if (a.kind == NodeKind::kSwitch && b.kind == NodeKind::kSwitch) {
      EXPECT_EQ(a.plane, b.plane);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, HpnOf,
                         testing::Values(HpnCase{2, 4, 2, 2, 3, 4, 2}, HpnCase{1, 3, 8, 1, 5, 0, 1},
                                         HpnCase{2, 2, 1, 2, 1, 128, 1}, HpnCase{3, 2, 2, 2, 5, 6, 2}));

TEST(Hpn, ItsFullSizeIsThePapers) {
  const Size size = size_of(Hpn{.segments = 15,
                                .servers_per_segment = 128,
                                .rails = 8,
                                .planes = 2,
                                .aggregations_per_plane = 60,
                                .cores = 128,
                                .core_uplinks = 8});
  EXPECT_EQ(size.nodes, 240 + 15'360 + 120 + 128);
  EXPECT_EQ(size.links, 2 * 15'360 + 240 * 60 + 120 * 8);
  EXPECT_EQ(size.ports, 128 + 60);  // a ToR's; an aggregation switch has 120 + 8
}

TEST(Hpn, AServerHasANicPerRail) {
  const Fabric fabric = testbed_of(
                            "fabric: {kind: hpn, segments: 1, servers_per_segment: 2, rails: 3, "
                            "aggregations_per_plane: 1, " +
                            std::string(kLinks) + "}")
                            .fabric;
  EXPECT_EQ(std::ranges::count(fabric.nodes, "s1-h2", &FabricNode::server), 3);
  EXPECT_EQ(neighbours(fabric, "s1-h2-nic3"), (Names{"s1-r3-tor1", "s1-r3-tor2"}));
}

struct AiZoneCase {
  uint32_t zones, racks, servers, nics, ctsws, parallel, atsws;
};
class AiZoneOf : public testing::TestWithParam<AiZoneCase> {};

TEST_P(AiZoneOf, JoinsEveryRackToEveryCtswOfItsZone) {
  const AiZoneCase c = GetParam();
  const Fabric fabric =
      testbed_of(
          fmt::format("fabric: {{kind: ai-zone, zones: {}, racks: {}, servers_per_rack: {}, nics_per_server: {}, "
                      "ctsws: {}, links_per_ctsw: {}, atsws: {}, {}}}",
                      c.zones, c.racks, c.servers, c.nics, c.ctsws, c.parallel, c.atsws, kLinks))
          .fabric;
  EXPECT_EQ(count(fabric, Role::kTor), c.zones * c.racks);
  EXPECT_EQ(count(fabric, Role::kAggregation), c.zones * c.ctsws);
  EXPECT_EQ(count(fabric, Role::kCore), c.atsws);
  EXPECT_EQ(count(fabric, Role::kHost), c.zones * c.racks * c.servers * c.nics);
  tests::check_wiring(fabric);
  tests::check_addresses(fabric);
  check_size(fabric, size_of(AiZone{.zones = c.zones,
                                    .racks = c.racks,
                                    .servers_per_rack = c.servers,
                                    .nics_per_server = c.nics,
                                    .ctsws = c.ctsws,
                                    .links_per_ctsw = c.parallel,
                                    .atsws = c.atsws}));
  for (uint32_t zone = 1; zone <= c.zones; ++zone) {
    Names expected;
    for (uint32_t r = 1; r <= c.racks; ++r)
      expected.insert(expected.end(), c.parallel, fmt::format("z{}-rtsw{}", zone, r));
    for (uint32_t a = 1; a <= c.atsws; ++a) expected.push_back(fmt::format("atsw{}", a));
    EXPECT_EQ(neighbours(fabric, fmt::format("z{}-ctsw1", zone)), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, AiZoneOf,
                         testing::Values(AiZoneCase{1, 4, 2, 8, 4, 1, 0}, AiZoneCase{3, 5, 1, 2, 2, 2, 4},
                                         AiZoneCase{2, 2, 2, 1, 9, 1, 1}));

TEST(AiZone, ItsFullSizeIsThePapers) {
  const Size size = size_of(AiZone{.racks = 192, .ctsws = 16});
  EXPECT_EQ(size.nodes - 192 - 16, 3'072);  // NICs, one per GPU
  EXPECT_EQ(size.ports, 192);
}

TEST(Generators, RefuseAFabricThatIsASlipOfThePen) {
  const auto refused = [](const std::string& fabric) {
    return !parse_testbed("name: t\nfabric: {" + fabric + ", " + kLinks + "}\n", "t.yaml");
  };
  EXPECT_TRUE(refused("kind: leaf-spine, tors: 4000000000, spines: 4000000000, hosts_per_tor: 4000000000"));
  EXPECT_TRUE(refused("kind: leaf-spine, tors: 4097, spines: 1, hosts_per_tor: 1"));  // a spine's ports
  EXPECT_TRUE(refused("kind: fat-tree, k: 256"));                                     // 4.2 M hosts
  EXPECT_TRUE(refused("kind: fat-tree, k: 5"));
  EXPECT_TRUE(refused("kind: hpn, segments: 4000000000, servers_per_segment: 1, aggregations_per_plane: 1"));
  EXPECT_TRUE(refused("kind: ai-zone, zones: 4000000000, racks: 4000000000, ctsws: 1"));
}

TEST(Generators, AMistakeBehindAnAliasIsNotBuilt) {
  const auto testbed = parse_testbed(
      "name: t\n"
      "topology: {links: [{endpoints: [a, b], rate: &r 5}]}\n"
      "fabric: {kind: leaf-spine, tors: 4000000000, spines: 1, hosts_per_tor: 1, host_link: {rate: *r}, "
      "fabric_link: {rate: *r}}\n",
      "t.yaml");
  ASSERT_FALSE(testbed);
  EXPECT_EQ(testbed.error().size(), 1u);
}

}  // namespace
}  // namespace softspine::control
