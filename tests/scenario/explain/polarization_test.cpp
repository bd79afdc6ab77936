// SPDX-License-Identifier: Apache-2.0
// Polarization as the laboratory tells it: figures of spreads, what goes together and why, cures, disjoint ports.
#include "control/explain/polarization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "control/explain/cures.hpp"
#include "control/explain/probe.hpp"
#include "control/explain/source_ports.hpp"
#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

TEST(Spread, IsMaxOverMeanAndJainsIndex) {
  const Spread even = spread_of({5, 5, 5, 5});
  EXPECT_DOUBLE_EQ(even.max_over_mean, 1);
  EXPECT_DOUBLE_EQ(even.jain, 1);
  const Spread one = spread_of({0, 12, 0, 0});
  EXPECT_DOUBLE_EQ(one.max_over_mean, 4);
  EXPECT_DOUBLE_EQ(one.jain, 0.25);
  EXPECT_EQ(one.idle, 3u);
  const Spread some = spread_of({1, 2, 3});
  EXPECT_DOUBLE_EQ(some.max_over_mean, 1.5);
  EXPECT_DOUBLE_EQ(some.jain, 36.0 / (3 * 14));
  EXPECT_EQ(spread_of({}).flows, 0u);
  EXPECT_DOUBLE_EQ(spread_of({0, 0}).max_over_mean, 0);
}

// Published: 16 links, mean of max over mean: 16 flows 3.08, 64 1.96, 256 1.47, 1000 1.23.
TEST(Ideal, IsWhatIsKnownOfSixteenLinks) {
  EXPECT_NEAR(ideal_of({{16, 16}}).max_over_mean, 3.08, 0.07);
  EXPECT_NEAR(ideal_of({{64, 16}}).max_over_mean, 1.96, 0.05);
  EXPECT_NEAR(ideal_of({{256, 16}}).max_over_mean, 1.47, 0.03);
  EXPECT_NEAR(ideal_of({{1000, 16}}).max_over_mean, 1.23, 0.02);
}

Testbed fat_tree(const std::string& profiles) {
  const auto testbed = parse_testbed(
      "name: tree\nfabric: {kind: fat-tree, k: 8, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: "
      "100Gbps}}\n" +
          profiles,
      "test.yaml");
  if (!testbed) {
    ADD_FAILURE() << to_string(testbed.error().front());
    return {};
  }
  return *testbed;
}

std::vector<FlowProbe> flows_of(Walker& walker, uint32_t count, uint16_t fixed_port = 0) {
  const Fabric& fabric = walker.testbed().fabric;
  std::vector<uint32_t> hosts;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == NodeKind::kHost) hosts.push_back(n);
  }
  dataplane::Rng rng{tests::seed(), 81};
  std::vector<FlowProbe> out;
  while (out.size() < count) {
    Probe probe{.from = hosts[rng.below(hosts.size())], .to = hosts[rng.below(hosts.size())]};
    if (probe.from == probe.to) continue;
    probe.source_port = fixed_port != 0 ? fixed_port : static_cast<uint16_t>(rng.next());
    probe.qp = static_cast<uint32_t>(rng.next() & 0xffffff);
    const LinkEnd sender{probe.from, 0};
    out.push_back({frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node)), sender});
  }
  return out;
}

Polarization look_at(const Testbed& testbed, uint32_t flows) {
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  return polarization_of(walker, flows_of(walker, flows));
}

TEST(Polarization, OfAlikeTiersIsFoundWithItsReason) {
  const Polarization found = look_at(fat_tree(""), 8'000);
  EXPECT_EQ(found.arrived, 8'000u);
  ASSERT_EQ(found.tiers.size(), 2u);
  EXPECT_EQ(found.tiers[0].name, "tor up");
  EXPECT_EQ(found.tiers[1].name, "aggregation up");
  EXPECT_FALSE(found.tiers[0].is_uneven());
  EXPECT_TRUE(found.tiers[1].is_uneven());
  EXPECT_EQ(found.tiers[1].spread.links, 128u);
  EXPECT_EQ(found.tiers[1].spread.idle, 96u) << "one of four";
  ASSERT_EQ(found.correlations.size(), 1u);
  EXPECT_TRUE(found.correlations[0].is_polarized);
  EXPECT_NEAR(found.correlations[0].reuse, 0.25, 0.01);
  EXPECT_THAT(found.correlations[0].why, testing::HasSubstr("both hash alike"));
}

TEST(Polarization, OfSeedsOnlyIsNamedLinear) {
  const Polarization found = look_at(fat_tree("profiles: {a: {hash: {seed: 5}}}\nroles: {aggregation: a}\n"), 8'000);
  ASSERT_EQ(found.correlations.size(), 1u);
  EXPECT_TRUE(found.correlations[0].is_polarized);
  EXPECT_THAT(found.correlations[0].why, testing::HasSubstr("linear"));
}

TEST(Polarization, IsNotFoundWhereOffsetsDifferOrFlowsAreFew) {
  const Polarization cured = look_at(fat_tree("profiles: {a: {hash: {offset: 10}}}\nroles: {aggregation: a}\n"), 8'000);
  for (const TierShare& tier : cured.tiers) EXPECT_FALSE(tier.is_uneven()) << tier.name;
  for (const Correlation& pair : cured.correlations) EXPECT_FALSE(pair.is_polarized);
  EXPECT_FALSE(
      look_at(fat_tree("profiles: {a: {hash: {offset: 10}}}\nroles: {aggregation: a}\n"), 20).tiers[0].is_uneven());
}

TEST(Cures, AreRankedByWhatTheyReach) {
  const Testbed testbed = fat_tree("");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  const auto flows = flows_of(walker, 8'000);
  const double before = polarization_of(walker, flows).worst();
  EXPECT_GT(before, 3.9);
  std::map<std::string, Cure> by_name;
  double last = 0;
  for (const Cure& cure : try_cures(walker, flows)) {
    EXPECT_GE(cure.worst, last);
    last = cure.worst;
    by_name[cure.name] = cure;
  }
  for (const char* name : {"offset", "algorithm", "mixing", "offset_qp"}) {
    EXPECT_TRUE(by_name[name].is_cured) << name << " " << by_name[name].worst;
  }
  for (const char* name : {"seed", "qp", "more_qps"}) {
    EXPECT_FALSE(by_name[name].is_cured) << name;
    EXPECT_GT(by_name[name].worst, 3.5) << name;
  }
  EXPECT_LT(by_name["coprime"].worst, 2.5) << "the hash modulo 509 knows nothing of the hash modulo 4";
}

TEST(Cures, OfOneSourcePortAreQps) {
  const auto parsed = parse_testbed(
      "name: few\nfabric: {kind: leaf-spine, tors: 2, spines: 8, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
      "fabric_link: "
      "{rate: 100Gbps}}\n",
      "test.yaml");
  ASSERT_TRUE(parsed);
  Walker walker{*parsed, std::vector<bool>(parsed->fabric.links.size(), true)};
  const auto flows = flows_of(walker, 500, 49'152);
  const Polarization found = polarization_of(walker, flows);
  EXPECT_EQ(found.tiers[0].distinct_keys, 2u) << "h1 to h2, and back";
  EXPECT_TRUE(found.tiers[0].is_uneven());
  EXPECT_EQ(found.tiers[0].spread.idle, 14u);
  for (const Cure& cure : try_cures(walker, flows)) {
    if (cure.name == "qp") {
      EXPECT_TRUE(cure.is_cured);
    } else if (cure.name == "offset" || cure.name == "seed" || cure.name == "mixing") {
      EXPECT_FALSE(cure.is_cured) << cure.name;
    }
  }
}

TEST(SourcePorts, AreDisjointAndAsManyAsTheFirstTierAllows) {
  const Testbed testbed = fat_tree("profiles: {a: {hash: {algorithm: XXH3, seed: 3}}}\nroles: {aggregation: a}\n");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  uint32_t first = 0;
  while (testbed.fabric.nodes[first].kind != NodeKind::kHost) ++first;
  uint32_t last = first;
  for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
    if (testbed.fabric.nodes[n].kind == NodeKind::kHost) last = n;
  }
  const PortSearch found = disjoint_source_ports(walker, {.from = first, .to = last}, 100);
  EXPECT_EQ(found.disjoint.size(), 4u);
  EXPECT_EQ(found.paths_there, 16u) << "4 up, 4 up, one way down";
  EXPECT_EQ(found.paths_reached, 16u);
  std::set<LinkEnd> links;
  for (const FoundPath& path : found.disjoint) {
    EXPECT_EQ(path.links.size(), 4u);
    links.insert(path.links.begin(), path.links.end());
  }
  EXPECT_EQ(links.size(), 16u);
}

}  // namespace
}  // namespace softspine::control
