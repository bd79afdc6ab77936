// SPDX-License-Identifier: Apache-2.0
// Paths counted in the routes, against HPN's Table 1 and a breadth first search.
#include "control/routing/path_counts.hpp"

#include <gtest/gtest.h>

#include "control/load/load.hpp"
#include "tests/harness/source_root.hpp"
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

void expect_choices(const PathCount& found, const std::vector<HopChoice>& choices) {
  EXPECT_EQ(found.choices.size(), choices.size());
  EXPECT_TRUE(found.choices == choices);
}

// HPN's Table 1 counts links but for the fat tree, of which it counts all ports of the switches that choose.
TEST(Paths, ComeFromTheChoicesOfHpnsTable1) {
  const auto pod = count_paths(fabric_of("kind: hpn, size: published")).value().from[0];
  expect_choices(pod, {{60, 128 + 60}});
  EXPECT_EQ(pod.product_of_links(), 60u);
  const auto tree = count_paths(fabric_of("kind: fat-tree, size: published" + std::string(kLinks))).value().from[0];
  expect_choices(tree, {{24, 48}, {24, 48}});
  EXPECT_EQ(tree.product_of_links(), 576u);
  EXPECT_EQ(tree.product_of_ports(), 2'304u);
}

TEST(Paths, OfTheShippedSearchSpacesAreThoseOfTable1) {
  const auto shipped = [](const char* name) {
    const auto testbed = load_testbed(tests::source_root() / "testbeds" / name);
    return testbed ? count_paths(testbed->fabric).value().from.at(0) : PathCount{};
  };
  const PathCount superpod = shipped("search-space-4096.yaml");
  expect_count(superpod, 5, 4'096, 2);
  expect_choices(superpod, {{32, 1 + 32}, {32, 4 + 32}, {4, 4 + 32}});
  EXPECT_EQ(superpod.product_of_links(), 4'096u);
  const PathCount jupiter = shipped("search-space-2048.yaml");
  expect_count(jupiter, 5, 2'048, 2);
  expect_choices(jupiter, {{8, 1 + 8}, {256, 1 + 256}});
  EXPECT_EQ(jupiter.product_of_links(), 2'048u);
}

// The most that any switch of a hop chooses among: the product may be more than there are paths.
TEST(Paths, OfUnevenSwitchesAreFewerThanTheProductOfTheirChoices) {
  const auto testbed = parse_testbed(R"(name: t
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}, tor1: {kind: switch, role: tor}, tor2: {kind: switch, role: tor}, agg1: {kind: switch, role: aggregation}, agg2: {kind: switch, role: aggregation}}
  links:
    - {endpoints: [h1, tor1], rate: 100Gbps, length: 3m}
    - {endpoints: [h2, tor2], rate: 100Gbps, length: 3m}
    - {endpoints: [tor1, agg1], rate: 100Gbps, length: 3m}
    - {endpoints: [tor1, agg1], rate: 100Gbps, length: 3m}
    - {endpoints: [tor1, agg2], rate: 100Gbps, length: 3m}
    - {endpoints: [tor2, agg1], rate: 100Gbps, length: 3m}
    - {endpoints: [tor2, agg2], rate: 100Gbps, length: 3m}
)",
                                     "t.yaml");
  ASSERT_TRUE(testbed);
  const auto counts = count_paths(testbed->fabric);
  ASSERT_TRUE(counts);
  expect_count(counts->from.at(0), 3, 3, 1);  // from tor2: one link over agg2, two over agg1
  expect_choices(counts->from[0], {{2, 3}, {2, 3}});
  EXPECT_EQ(counts->from[0].product_of_links(), 4u);
}

// Hosts on a cable between them are in the file, and have no switch to come from.
TEST(Paths, LeadToTheFirstHostThatIsAtASwitch) {
  const auto testbed = parse_testbed(R"(name: t
topology:
  nodes: {a: {kind: host}, b: {kind: host}, h1: {kind: host}, h2: {kind: host}, tor1: {kind: switch, role: tor}, tor2: {kind: switch, role: tor}}
  links:
    - {endpoints: [a, b], rate: 100Gbps, length: 3m}
    - {endpoints: [h1, tor1], rate: 100Gbps, length: 3m}
    - {endpoints: [h2, tor2], rate: 100Gbps, length: 3m}
    - {endpoints: [tor1, tor2], rate: 100Gbps, length: 3m}
)",
                                     "t.yaml");
  ASSERT_TRUE(testbed);
  const auto counts = count_paths(testbed->fabric);
  ASSERT_TRUE(counts);
  EXPECT_EQ(testbed->fabric.nodes[counts->to].name, "h1");
  EXPECT_EQ(counts->tors_without_way, 0u);
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
