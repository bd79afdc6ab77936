// SPDX-License-Identifier: Apache-2.0
// What polarization says of fabrics where few switches differ from the others, and where keys come to several switches.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/explain/cures.hpp"
#include "analysis/explain/polarization.hpp"
#include "analysis/explain/polarization_report.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "testbeds/run/workload_flows.hpp"
#include "tests/harness/source_root.hpp"

namespace softspine::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLinks = "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}";

// A fabric with profiles, and the flows of its workload.
struct Judged {
  control::Testbed testbed;
  Polarization found;
  std::string text;
  std::vector<Cure> cures;

  const TierShare& tier(const std::string& name) const {
    const auto it = std::ranges::find(found.tiers, name, [](const TierShare& tier) { return tier.tier.name; });
    EXPECT_NE(it, found.tiers.end()) << name;
    return *it;
  }
  std::vector<std::string> names_of(const std::vector<uint32_t>& groups) const {
    std::vector<std::string> out;
    for (const uint32_t group : groups) out.push_back(testbed.fabric.nodes[found.choices.groups[group].node].name);
    return out;
  }
};

Judged judged(const control::Testbed& testbed, bool find = false) {
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  const auto flows = testbeds::workload_flows(walker);
  Judged out{.testbed = testbed, .found = polarization_of(walker, flows), .text = {}, .cures = {}};
  if (find) out.cures = find_cures(walker, flows, out.found);
  out.text = polarization_text(testbed, out.found) + (find ? cures_text(testbed, out.found, out.cures) : "");
  return out;
}

Judged judged(const std::string& fabric, const std::string& profiles, const std::string& workload, bool find = false) {
  const auto testbed = control::parse_testbed(
      fmt::format("name: t\nfabric: {{{}, {}}}\n{}\nworkload: [{{name: w, {}}}]\n", fabric, kLinks, profiles, workload),
      "test.yaml");
  if (testbed) return judged(*testbed, find);
  ADD_FAILURE() << to_string(testbed.error().front());
  return {};
}

constexpr const char* kFatTree = "kind: fat-tree, k: 8, hosts_per_tor: 2";

TEST(OneSwitch, ThatHashesAllToOneLinkIsFoundAmongThreeHundred) {
  const Judged it = judged("kind: leaf-spine, tors: 300, spines: 8, hosts_per_tor: 2",
                           "profiles: {default: {hash: {algorithm: XXH3}}, bad: {base: default, hash: {fields: "
                           "[IP_PROTOCOL]}}}\ntopology: {nodes: {tor7: {profile: bad}}}",
                           "pattern: permutation, qps: 32");
  EXPECT_EQ(it.tier("tor up").verdict, TierVerdict::kUneven);
  EXPECT_THAT(it.names_of(it.tier("tor up").uneven_groups), ElementsAre("tor7"));
  ASSERT_TRUE(it.tier("tor up").cause);
  EXPECT_EQ(it.tier("tor up").cause->kind, CauseKind::kFewKeys);
  EXPECT_THAT(it.text, HasSubstr("UNEVEN: tor up, at tor7:\n  too little of the key varies: 64 flows have 1 keys"));
}

TEST(OneSwitch, ThatHashesSourcesOnlyIsFoundAmongAHundred) {
  const Judged it = judged("kind: leaf-spine, tors: 128, spines: 8, hosts_per_tor: 4",
                           "profiles: {default: {hash: {algorithm: XXH3}}, bad: {base: default, hash: {fields: "
                           "[SRC_IP]}}}\ntopology: {nodes: {tor7: {profile: bad}}}",
                           "pattern: permutation, qps: 16");
  EXPECT_EQ(it.tier("tor up").verdict, TierVerdict::kUneven);
  EXPECT_THAT(it.names_of(it.tier("tor up").uneven_groups), ElementsAre("tor7"));
}

// Sixteen queue pairs of one port, whose 5-tuple is one key, among ToRs whose hash spreads its flows very evenly.
TEST(OneSwitch, OfTheShippedEEcmpIsTheOneWithoutQueuePairs) {
  const auto testbed = control::load_testbed((tests::source_root() / "testbeds/e-ecmp.yaml").string());
  ASSERT_TRUE(testbed);
  const Judged it = judged(*testbed);
  EXPECT_EQ(it.tier("tor up").verdict, TierVerdict::kUneven);
  EXPECT_THAT(it.names_of(it.tier("tor up").uneven_groups), ElementsAre("tor1"));
  EXPECT_THAT(it.text, HasSubstr("16 flows have 1 keys"));
}

// Four hosts a rack and four uplinks: a pinned slice has one.
constexpr const char* kFullFatTree = "kind: fat-tree, k: 8, hosts_per_tor: 4";

std::string one_aggregation_switch_in(const char* mode) {
  return fmt::format("profiles: {{odd: {{groups: {{mode: {}}}}}}}\ntopology: {{nodes: {{p1-agg1: {{profile: odd}}}}}}",
                     mode);
}

TEST(OneSwitch, ThatSpraysKeepsNobodyElseFromJudgement) {
  for (const char* mode : {"spray", "in_port", "pinned"}) {
    const Judged it = judged(kFullFatTree, one_aggregation_switch_in(mode), "pattern: permutation, qps: 64");
    const TierShare& tier = it.tier("aggregation up");
    EXPECT_EQ(tier.verdict, TierVerdict::kPolarized) << mode;
    EXPECT_GT(tier.flows_not_judged, 0u) << mode;
    EXPECT_LT(tier.flows_not_judged * 10, tier.flows) << mode;
    EXPECT_NEAR(tier.by_flows.max_over_mean, 4, 1e-9) << "of those that hash";
    EXPECT_EQ(tier.links, 4u * 31) << mode;
    EXPECT_THAT(it.text, HasSubstr(fmt::format("not judged: {} flows", tier.flows_not_judged)));
  }
}

// Two hosts a rack and four uplinks: a pinned slice has two of them, between which it hashes.
TEST(OneSwitch, WhosePinnedSlicesHashIsJudgedWithTheOthers) {
  const TierShare tier =
      judged(kFatTree, one_aggregation_switch_in("pinned"), "pattern: permutation, qps: 64").tier("aggregation up");
  EXPECT_EQ(tier.verdict, TierVerdict::kPolarized);
  EXPECT_EQ(tier.flows_not_judged, 0u);
  EXPECT_EQ(tier.links, 4u * 32);
}

// 31 aggregation switches hash otherwise than the ToRs, one as they do.
TEST(OneSwitch, ThatHashesAsTheTierBelowIsTheCause) {
  const Judged it = judged(kFatTree,
                           "profiles: {a: {hash: {offset: 10}}, odd: {hash: {offset: 0}}}\nroles: {aggregation: "
                           "a}\ntopology: {nodes: {p1-agg1: {profile: odd}}}",
                           "pattern: all_to_all, qps: 4", true);
  ASSERT_EQ(it.found.pairs.size(), 1u);
  EXPECT_EQ(it.found.pairs[0].cause.kind, CauseKind::kAlike);
  EXPECT_THAT(it.names_of(it.found.pairs[0].later_groups), ElementsAre("p1-agg1"));
  EXPECT_NEAR(it.found.pairs[0].strength, 4, 0.3);
  EXPECT_NEAR(it.found.pairs[0].used, 0.25, 0.02);
  EXPECT_THAT(it.text, HasSubstr("POLARIZED: aggregation up by tor up, at p1-agg1: flows"));
  EXPECT_FALSE(it.cures.empty());
}

// How many of so many seeds of an ideal hash get a wrong verdict.
template <typename Profiles>
uint32_t alarms(uint32_t seeds, const std::string& fabric, const std::string& workload, Profiles&& profiles) {
  uint32_t out = 0;
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    const Judged it = judged(fabric, profiles(seed), workload);
    // Four ToRs of a pod with flows to the same host give an aggregation switch few keys: that is so for every hash.
    const bool is_false = std::ranges::any_of(it.found.tiers, [](const TierShare& tier) {
      return tier.is_unbalanced() && !(tier.cause && tier.cause->text.find("who shares a key") != std::string::npos);
    });
    out += is_false ? 1 : 0;
    if (is_false) fmt::print("seed {}:\n{}\n", seed, it.text);
  }
  return out;
}

// Every ToR has the same destinations, and gives them the same links: one draw, not thirty-two.
TEST(OneDraw, OfDestinationsOnlyIsNoAlarm) {
  EXPECT_EQ(alarms(60, "kind: leaf-spine, tors: 32, spines: 4, hosts_per_tor: 1", "pattern: all_to_all",
                   [](uint32_t seed) {
                     return fmt::format(
                         "profiles: {{default: {{hash: {{algorithm: XXH3, seed: {}, fields: "
                         "[DST_IP]}}}}}}",
                         seed);
                   }),
            0u);
}

// Eight ToRs' functions have nothing to do with each other; the aggregation switches give each destination one place.
TEST(OneDraw, OfDestinationsOverEightUnrelatedFunctionsIsNoAlarm) {
  EXPECT_EQ(alarms(30, "kind: fat-tree, k: 8, hosts_per_tor: 1", "pattern: all_to_all",
                   [](uint32_t seed) {
                     std::string profiles = fmt::format(
                         "profiles:\n  agg: {{hash: {{algorithm: XXH3, seed: {}, fields: [DST_IP]}}}}\n", seed);
                     std::string nodes;
                     for (uint32_t i = 1; i <= 8; ++i) {
                       profiles += fmt::format("  t{}: {{hash: {{algorithm: XXH3, seed: {}, fields: [DST_IP]}}}}\n", i,
                                               1'000 * i + seed);
                       for (uint32_t tor = 1; tor <= 4; ++tor)
                         nodes += fmt::format("{}p{}-tor{}: {{profile: t{}}}", nodes.empty() ? "" : ", ", i, tor, i);
                     }
                     return profiles + "roles: {aggregation: agg}\ntopology: {nodes: {" + nodes + "}}";
                   }),
            0u);
}

// Queue pairs of all hosts have the same source ports.
TEST(OneDraw, OfPortsOnlyIsNoAlarm) {
  EXPECT_EQ(alarms(60, "kind: leaf-spine, tors: 32, spines: 4, hosts_per_tor: 1",
                   "pattern: permutation, qps: 32, first_qp: 17",
                   [](uint32_t seed) {
                     return fmt::format(
                         "profiles: {{default: {{hash: {{algorithm: XXH3, seed: {}, fields: "
                         "[L4_SRC_PORT, L4_DST_PORT]}}}}}}",
                         seed);
                   }),
            0u);
}

// Two links from each ToR to each spine: h mod 12 says the uplink, and whether h is even says it again on the way down.
// Of the flows by the even uplink all go down by one link, of those by the odd one by the other: two halves, as by
// chance. Of a pair with one link down, what is left of the other comes by the one, and goes by the one.
TEST(Verdict, OfADependenceThatLoadsLinksAsChanceDoesIsNoFault) {
  const std::string fabric = "kind: leaf-spine, tors: 4, spines: 6, links_per_spine: 2, hosts_per_tor: 6";
  const std::string workload = "pattern: all_to_all, qps: 8";
  const Judged it = judged(fabric, "", workload, true);
  const TierShare& down = it.tier("aggregation down");
  EXPECT_EQ(down.verdict, TierVerdict::kDependent);
  EXPECT_FALSE(it.found.is_unbalanced());
  EXPECT_TRUE(it.found.is(TierVerdict::kDependent));
  EXPECT_THAT(it.cures, IsEmpty());
  ASSERT_EQ(it.found.pairs.size(), 1u);
  EXPECT_FALSE(it.found.pairs[0].does_harm);
  EXPECT_NEAR(it.found.pairs[0].used, 0.5, 0.03) << "one link of two";
  EXPECT_EQ(it.found.pairs[0].cause.kind, CauseKind::kAlike);
  EXPECT_EQ(down.idle, 0u);
  EXPECT_LT(down.by_flows.max_over_mean, 1.25 * down.by_flows.by_chance);
  EXPECT_THAT(it.text, HasSubstr("Dependent: aggregation down by tor up: flows that share a link there use 5"));
  EXPECT_THAT(it.text, HasSubstr("No harm is done"));
  EXPECT_THAT(it.text, Not(HasSubstr("POLARIZED")));
  const control::Json values = polarization_values(it.found);
  EXPECT_EQ(values["polarized"], false);
  EXPECT_EQ(values["dependent"], true);
  EXPECT_EQ(values["tiers"]["aggregation down"]["verdict"], "evenly loaded, dependent");
}

// The same hashes where each spine has one link of a pair alone: the other half of its two goes idle.
TEST(Verdict, OfTheSameDependenceIsPolarizedWhereOneHalfComesAlone) {
  const Judged it = judged("kind: fat-tree, k: 4, hosts_per_tor: 2", "", "pattern: all_to_all, qps: 16");
  const TierShare& up = it.tier("aggregation up");
  EXPECT_EQ(up.verdict, TierVerdict::kPolarized);
  EXPECT_EQ(up.idle, up.links / 2) << "h mod 2 again";
  ASSERT_EQ(it.found.pairs.size(), 1u);
  EXPECT_TRUE(it.found.pairs[0].does_harm);
}

// The flows that meet two tiers come after all those that meet one.
TEST(Cause, IsFoundHoweverLateTheFlowsCome) {
  const Judged it = judged(kFatTree, "",
                           "pattern: pairs, from: [h1, h2, h3, h4], to: [h5, h6, h7, h8], qps: 512}, {name: far, "
                           "pattern: pairs, from: [h1, h2, h3, h4, h5, h6, h7, h8], to: [h9, h10, h11, h12, h13, h14, "
                           "h15, h16], qps: 240");
  EXPECT_EQ(it.found.flows, 3'968u);
  ASSERT_EQ(it.found.pairs.size(), 1u);
  EXPECT_EQ(it.found.pairs[0].cause.kind, CauseKind::kAlike);
}

std::string cause_between(uint32_t k, const std::string& tor, const std::string& aggregation) {
  const Judged it = judged(fmt::format("kind: fat-tree, k: {}, hosts_per_tor: 1", k),
                           fmt::format("profiles: {{t: {{hash: {{{}}}}}, a: {{hash: {{{}}}}}}}\nroles: {{tor: t, "
                                       "aggregation: a}}",
                                       tor, aggregation),
                           "pattern: all_to_all, qps: 4");
  EXPECT_EQ(it.found.pairs.size(), 1u);
  return it.found.pairs.empty() ? "" : it.found.pairs[0].cause.text;
}

// A constant that is added without carry keeps what is left modulo two of six links, modulo four of four.
TEST(Cause, OfSeedsNamesTheFactorThatIsRenamed) {
  EXPECT_THAT(cause_between(8, "seed: 0", "seed: 25"), HasSubstr("other names, and parts no flows"));
  EXPECT_THAT(cause_between(12, "seed: 0", "seed: 25"),
              HasSubstr("with 6 links and 6 links that gives the members other names modulo 2: flows that share a link "
                        "there choose among 3 of 6 links here"));
}
TEST(Cause, OfARotationNamesTheFactorThatIsRenamed) {
  EXPECT_THAT(cause_between(12, "offset: 0", "offset: 10"),
              HasSubstr("the factor 3 in common with 2^32 − 1, so that it gives the members other names modulo 3: "
                        "flows that share a link there choose among 2 of 6 links here"));
  EXPECT_THAT(cause_between(10, "offset: 0", "offset: 10"), HasSubstr("parts no flows"));
}

TEST(Cause, OfRtag7sBlocksNamesTheFunctionThatChooses) {
  const auto with = [](const std::string& rtag7) {
    const std::string hash = "model: RTAG7, algorithm: CRC, rtag7: {" + rtag7 + "}";
    return cause_between(8, hash, hash);
  };
  EXPECT_THAT(with("output: B0, b: {first: CRC_CCITT, seed: 3}"),
              HasSubstr("RTAG7 CRC_CCITT(seed 3, offset 0) by its output B0"));
  EXPECT_THAT(with("output: A1, a: {second: CRC_32LO}"),
              HasSubstr("RTAG7 CRC_32LO(seed 0, offset 0) by its output A1"));
  EXPECT_THAT(with("macro_flow: {table: [{output: A0, offset: 0}]}"), HasSubstr("RTAG7 by a macro-flow table"));
}

// With 120 flows over 1,920 links hardly two share one: places of links tell.
TEST(Verdict, OfFewFlowsSaysHowOftenTheyShareAPlace) {
  const Judged it = judged("kind: fat-tree, k: 32, hosts_per_tor: 16", "",
                           "pattern: incast, from: 120, to: h4000, qps: 1, source_port: 5000");
  ASSERT_EQ(it.found.pairs.size(), 1u);
  EXPECT_NEAR(it.found.pairs[0].strength, 16, 2.5);
  EXPECT_THAT(it.text, testing::ContainsRegex("do so here again 1[5-8]\\.[0-9]+ times as often as by chance"));
  EXPECT_THAT(it.text, Not(HasSubstr("100 %")));
}

TEST(Verdict, WithoutACureSaysThatTwoTiersAreTheSameSwitches) {
  const Judged it = judged(
      "kind: ai-zone, zones: 3, racks: 4, servers_per_rack: 2, nics_per_server: 4, ctsws: 4, links_per_ctsw: 2, "
      "atsws: 4, zone_link: {rate: 100Gbps}",
      "", "pattern: all_to_all, qps: 2", true);
  EXPECT_THAT(it.cures, IsEmpty());
  EXPECT_THAT(it.text, HasSubstr("aggregation up and aggregation down are choices of the same switches"));
}

// Three thousand million messages of 2 GiB are more bytes than 64 bits count.
TEST(Verdict, OfMoreBytesThanCanBeCountedIsNotThatOfTheRest) {
  const Judged it =
      judged("kind: leaf-spine, tors: 4, spines: 4, hosts_per_tor: 8", "profiles: {default: {hash: {algorithm: XXH3}}}",
             "pattern: permutation, qps: 16, message: 2GiB, messages: 3000000000}, {name: small, "
             "pattern: permutation, qps: 16, message: 1GiB, messages: 3000000000");
  const TierShare& tier = it.tier("tor up");
  EXPECT_FALSE(tier.is_unbalanced()) << it.text;
  ASSERT_TRUE(tier.by_bytes);
  EXPECT_LT(tier.by_bytes->max_over_mean, 2);
  EXPECT_GE(tier.by_bytes->max_over_mean, 1);
}

}  // namespace
}  // namespace softspine::analysis
