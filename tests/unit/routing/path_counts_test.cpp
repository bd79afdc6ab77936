// SPDX-License-Identifier: Apache-2.0
// Paths counted in the routes, against HPN's Table 1 and a breadth first search.
#include "control/routing/path_counts.hpp"

#include <gtest/gtest.h>

#include "control/load/load.hpp"
#include "tests/unit/topology/graph_oracle.hpp"

namespace softspine::control {
namespace {

constexpr const char* kLinks = ", host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}";

Fabric fabric_of(const std::string& parameters) {
  auto testbed = parse_testbed("name: t\nfabric: {" + parameters + "}\n", "t.yaml");
  if (testbed) return std::move(testbed->fabric);
  for (const Error& error : testbed.error()) ADD_FAILURE() << to_string(error);
  return {};
}

void expect_count(const PathCount& found, uint32_t switches, uint64_t paths, uint32_t tors) {
  EXPECT_EQ(found.switches, switches);
  EXPECT_EQ(found.paths, paths);
  EXPECT_EQ(found.tors, tors);
}

TEST(Paths, AcrossAnHpnPodAre60) {
  const auto counts = count_paths(fabric_of("kind: hpn, size: published"));
  ASSERT_TRUE(counts);
  ASSERT_EQ(counts->from.size(), 2u);
  expect_count(counts->from[0], 3, 60, 238);  // from other rails, too: any-to-any
  expect_count(counts->from[1], 1, 1, 2);
  EXPECT_EQ(counts->tors_without_way, 0u);
}

TEST(Paths, AcrossAFatTreeOf48PortsAre576) {
  const auto counts = count_paths(fabric_of("kind: fat-tree, size: published" + std::string(kLinks)));
  ASSERT_TRUE(counts);
  ASSERT_EQ(counts->from.size(), 3u);
  expect_count(counts->from[0], 5, 24 * 24, 47 * 24);
  expect_count(counts->from[1], 3, 24, 23);
  expect_count(counts->from[2], 1, 1, 1);
}

// As many as Jupiter's 2,048, by 8 and 256 choices; and a dual ToR can be reached by either of its switches.
TEST(Paths, MultiplyTheChoicesOfEachTier) {
  const auto counts = count_paths(
      fabric_of("kind: dcn-plus, pods: 2, segments: 1, servers_per_segment: 1, nics_per_server: 1, aggregations: 8, "
                "links_per_aggregation: 1, cores: 2048, core_uplinks: 256" +
                std::string(kLinks)));
  ASSERT_TRUE(counts);
  expect_count(counts->from.at(0), 5, 2 * 2'048, 2);
}

TEST(Paths, AreThoseThatABreadthFirstSearchFinds) {
  for (const char* parameters :
       {"kind: leaf-spine, tors: 3, spines: 5, hosts_per_tor: 2, links_per_spine: 2", "kind: fat-tree, k: 6",
        "kind: ai-zone, zones: 2, racks: 3, ctsws: 4, links_per_ctsw: 2, atsws: 3", "kind: clos, m: 5, n: 2, r: 3",
        "kind: 2-ary-fat-tree, levels: 3", "kind: star, hosts: 3"}) {
    SCOPED_TRACE(parameters);
    std::string text = parameters;
    text += text.starts_with("kind: star") ? ", host_link: {rate: 1Gbps}" : kLinks;
    const Fabric fabric = fabric_of(text);
    const auto counts = count_paths(fabric);
    ASSERT_TRUE(counts);
    const tests::GraphOracle oracle(fabric);
    std::map<uint64_t, uint32_t, std::greater<>> expected;
    std::map<uint64_t, uint32_t, std::greater<>> found;
    std::set<uint32_t> tors;
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
      if (fabric.nodes[n].kind != NodeKind::kHost || !tors.insert(fabric.peer_of({n, 0}).node).second) continue;
      ++expected[n == counts->to ? 1 : oracle.shortest_ways(n, counts->to)];
    }
    for (const PathCount& each : counts->from) found[each.paths] += each.tors;
    EXPECT_EQ(found, expected);
  }
}

TEST(Paths, OfOtherRailsAreNone) {
  const auto counts = count_paths(fabric_of(
      "kind: hpn, segments: 3, servers_per_segment: 2, rails: 4, aggregations_per_plane: 5, tier2: rail-only" +
      std::string(kLinks)));
  ASSERT_TRUE(counts);
  expect_count(counts->from.at(0), 3, 5, 4);  // two other segments, two ToRs
  expect_count(counts->from.at(1), 1, 1, 2);
  EXPECT_EQ(counts->tors_without_way, 3u * 3 * 2);
}

}  // namespace
}  // namespace softspine::control
