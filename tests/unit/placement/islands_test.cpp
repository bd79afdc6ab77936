// SPDX-License-Identifier: Apache-2.0
// Parts of generated fabrics below each tier, against the papers' counts and ratios.
#include "control/placement/islands.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topology/fabric_checks.hpp"

namespace softspine::control {
namespace {

struct Found {
  Fabric fabric;
  std::vector<PlacedServer> servers;
  std::vector<TierIslands> tiers;
};

Found found_in(const std::string& body) {
  Found out{.fabric = tests::testbed_of(body).fabric, .servers = {}, .tiers = {}};
  out.servers = servers_of(out.fabric);
  out.tiers = islands_of(out.fabric, out.servers);
  return out;
}

// Whether servers share an island exactly if their names begin alike.
void expect_by_name(const Found& found, const TierIslands& tier, const std::function<std::string(std::string)>& part) {
  for (size_t a = 0; a < found.servers.size(); ++a) {
    for (size_t b = 0; b < found.servers.size(); ++b) {
      const bool alike = part(std::string(found.servers[a].name)) == part(std::string(found.servers[b].name));
      ASSERT_EQ(tier.island_of[a] == tier.island_of[b], alike) << found.servers[a].name << " " << found.servers[b].name;
    }
  }
}

TEST(Islands, OfAiZonesAreRacksAndZonesAtSevenToOne) {
  const Found found = found_in("fabric: {kind: ai-zone, size: published-zones, zones: 3, racks: 7}");
  EXPECT_EQ(found.servers.size(), 3u * 7 * 2);
  ASSERT_EQ(found.tiers.size(), 2u);
  EXPECT_EQ(found.tiers[0].role, Role::kCore);
  EXPECT_EQ(found.tiers[0].islands, 3u);
  EXPECT_EQ(found.tiers[0].oversubscribed, (std::vector<double>(3, 7)));
  expect_by_name(found, found.tiers[0], [](const std::string& name) { return name.substr(0, name.find('-')); });
  EXPECT_EQ(found.tiers[1].role, Role::kAggregation);
  EXPECT_EQ(found.tiers[1].islands, 21u);
  EXPECT_EQ(found.tiers[1].oversubscribed, (std::vector<double>(21, 1)));
}

TEST(Islands, OfHpnAreSegmentsAndPodsThoughItsPlanesAreApart) {
  const Found found = found_in(
      "fabric: {kind: hpn, pods: 2, segments: 3, servers_per_segment: 4, rails: 2, aggregations_per_plane: 2, cores: "
      "4, "
      "core_uplinks: 1, host_link: {rate: 200Gbps}, fabric_link: {rate: 400Gbps}, core_link: {rate: 400Gbps}}");
  EXPECT_EQ(found.servers.size(), 24u);
  ASSERT_EQ(found.tiers.size(), 2u);
  EXPECT_EQ(found.tiers[0].islands, 2u);
  EXPECT_EQ(found.tiers[1].islands, 6u);
  EXPECT_EQ(found.tiers[0].parts, 2u);
  EXPECT_EQ(found.tiers[1].parts, 12u) << "each of two rails";
  // A pod: 12 servers × 2 rails × 2 ports × 200G over 4 aggregation switches with a core uplink of 400G each. A
  // segment's rail: 2 ToRs with 2 uplinks of 400G each for 8 ports of 200G.
  EXPECT_EQ(found.tiers[0].oversubscribed, (std::vector<double>(2, 12.0 * 4 * 200 / (4 * 400))));
  EXPECT_EQ(found.tiers[1].oversubscribed, (std::vector<double>(12, 8.0 * 200 / (4 * 400))));
  EXPECT_EQ(rails_of(found.tiers[0], std::vector<uint32_t>{0, 5}), (std::vector<uint32_t>{0, 0}));
  EXPECT_EQ(rails_of(found.tiers[1], std::vector<uint32_t>{0, 5}), (std::vector<uint32_t>{0, 1}));
}

TEST(Islands, OfAStarAreNone) {
  EXPECT_TRUE(found_in("fabric: {kind: star, hosts: 4, host_link: {rate: 100Gbps}}").tiers.empty());
}

TEST(Islands, OfALeafSpineAreItsRacks) {
  const Found found = found_in(
      "fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 8, host_link: {rate: 100Gbps}, "
      "fabric_link: {rate: 200Gbps}}");
  ASSERT_EQ(found.tiers.size(), 1u);
  EXPECT_EQ(found.tiers[0].islands, 3u);
  EXPECT_EQ(found.tiers[0].oversubscribed, (std::vector<double>(3, 2)));
}

// A server has a NIC in each of two racks: what holds one of them holds both. Two such servers, with a rack in common,
// are on one island; a server of one NIC beside them is on its own.
TEST(Islands, HoldAServerWhoseRailsAreInDifferentRacks) {
  const Found found = found_in(
      "topology:\n  nodes:\n    t1: {kind: switch, role: tor}\n    t2: {kind: switch, role: tor}\n"
      "    t3: {kind: switch, role: tor}\n    t4: {kind: switch, role: tor}\n    up: {kind: switch, role: "
      "aggregation}\n"
      "    a0: {kind: host, server: a}\n    a1: {kind: host, server: a}\n    b0: {kind: host, server: b}\n"
      "    b1: {kind: host, server: b}\n    c: {kind: host}\n  links:\n"
      "    - {endpoints: [t1, a0], rate: 100Gbps}\n    - {endpoints: [t2, a1], rate: 100Gbps}\n"
      "    - {endpoints: [t2, b0], rate: 100Gbps}\n    - {endpoints: [t3, b1], rate: 100Gbps}\n"
      "    - {endpoints: [t4, c], rate: 100Gbps}\n    - {endpoints: [t1, up], rate: 50Gbps}\n"
      "    - {endpoints: [t2, up], rate: 100Gbps}\n    - {endpoints: [t3, up], rate: 50Gbps}\n"
      "    - {endpoints: [t4, up], rate: 400Gbps}\n");
  ASSERT_EQ(found.servers.size(), 3u);
  EXPECT_EQ(found.servers[0].nics.size(), 2u);
  ASSERT_EQ(found.tiers.size(), 1u);
  EXPECT_EQ(found.tiers[0].islands, 2u);
  EXPECT_EQ(found.tiers[0].island_of, (std::vector<uint32_t>{0, 0, 1}));
  // Below the tier the racks are parts by themselves.
  EXPECT_EQ(found.tiers[0].part_of, (std::vector<std::vector<uint32_t>>{{0, 1}, {1, 2}, {3}}));
  EXPECT_EQ(found.tiers[0].oversubscribed, (std::vector<double>{100.0 / 50, 200.0 / 100, 100.0 / 50, 100.0 / 400}));
}

}  // namespace
}  // namespace softspine::control
