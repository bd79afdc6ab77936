// SPDX-License-Identifier: Apache-2.0
// Reports on results that are made by hand: what is named, counted and left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/explain/comparison_report.hpp"
#include "analysis/explain/cure_text.hpp"
#include "analysis/explain/polarization_report.hpp"
#include "analysis/explain/probe.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

control::Testbed testbed_of(const std::string& fabric, const std::string& profiles = "") {
  const auto testbed = control::parse_testbed(
      "name: t\nfabric: {" + fabric + ", host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n" + profiles,
      "test.yaml");
  if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
  return *testbed;
}
constexpr const char* kLeafSpine = "kind: leaf-spine, tors: 8, spines: 2, hosts_per_tor: 1";

uint32_t node_of(const control::Fabric& fabric, const std::string& name) {
  const auto found = std::ranges::find(fabric.nodes, name, &control::FabricNode::name);
  EXPECT_NE(found, fabric.nodes.end()) << name;
  return static_cast<uint32_t>(found - fabric.nodes.begin());
}

// One tier, of which the first `uneven` of eight ToRs' groups are.
Polarization with_uneven(const control::Fabric& fabric, uint32_t uneven) {
  Polarization out{.flows = 10, .arrived = 10, .choices = {}, .tiers = {}, .pairs = {}};
  TierShare& tier = out.tiers.emplace_back();
  tier.tier.name = "tor up";
  tier.verdict = TierVerdict::kUneven;
  tier.cause = Cause{CauseKind::kKeyPattern, "so it is"};
  for (uint32_t i = 0; i < 8; ++i) {
    LinkGroup& group = out.choices.groups.emplace_back();
    group.node = node_of(fabric, "tor" + std::to_string(i + 1));
    if (i < uneven) tier.uneven_groups.push_back(i);
  }
  return out;
}

TEST(PolarizationText, NamesSixSwitchesAndCountsTheOthers) {
  const control::Testbed testbed = testbed_of(kLeafSpine);
  const auto text = [&](uint32_t uneven) { return polarization_text(testbed, with_uneven(testbed.fabric, uneven)); };
  EXPECT_THAT(text(0), HasSubstr("\nUNEVEN: tor up:\n  so it is\n"));
  EXPECT_THAT(text(1), HasSubstr("\nUNEVEN: tor up, at tor1:\n"));
  EXPECT_THAT(text(6), HasSubstr("\nUNEVEN: tor up, at tor1, tor2, tor3, tor4, tor5, tor6:\n"));
  EXPECT_THAT(text(7), HasSubstr("\nUNEVEN: tor up, at tor1, tor2, tor3, tor4, tor5, tor6 and 1 more:\n"));
  EXPECT_THAT(text(8), HasSubstr("tor6 and 2 more:\n"));
}

// A tier's row: flows, keys, links, idle ones, those that chance leaves idle, the fullest link over the mean, and by
// chance.
TEST(PolarizationText, HasARowForEachTierAndLinesForBytesAndForWhatIsNotJudged) {
  const control::Testbed testbed = testbed_of(kLeafSpine);
  Polarization found = with_uneven(testbed.fabric, 0);
  TierShare& tier = found.tiers[0];
  tier.flows = 1'200;
  tier.keys = 800;
  tier.links = 16;
  tier.idle = 3;
  tier.idle_by_chance = 0.25;
  tier.by_flows = {.max_over_mean = 2.345, .by_chance = 1.125};
  const std::string head =
      "\ntier                 flows     keys   links   idle by chance  max/mean by chance\n"
      "tor up                1200      800      16      3       0.2      2.35      1.12  UNEVEN\n";
  EXPECT_THAT(polarization_text(testbed, found), HasSubstr(head + "\nUNEVEN"));
  tier.by_bytes = Load{.max_over_mean = 3.5, .by_chance = 1.5};
  tier.flows_not_judged = 7;
  EXPECT_THAT(polarization_text(testbed, found),
              HasSubstr(head + "  by bytes                                                       3.50      1.50\n"
                               "  not judged: 7 flows at switches that do not hash\n"));
  EXPECT_THAT(
      polarization_text(testbed, {.flows = 2, .arrived = 2, .choices = {}, .tiers = {}, .pairs = {}}),
      testing::StrEq("2 flows, 2 arrive\nNothing is judged: no flow came to a switch with more than one link for "
                     "it.\n"));
}

TEST(PolarizationText, SaysWhatBecomesOfFlowsThatDoNotArrive) {
  const control::Testbed testbed = testbed_of(kLeafSpine);
  Polarization found = with_uneven(testbed.fabric, 0);
  EXPECT_TRUE(polarization_text(testbed, found).starts_with("10 flows, 10 arrive\n"));
  found.arrived = 7;
  found.choices.lost = {{"mtu_exceeded", 2}, {"no_route", 1}};
  EXPECT_TRUE(
      polarization_text(testbed, found).starts_with("10 flows, 7 arrive, 3 do not: mtu_exceeded 2, no_route 1\n"));
}

// By the links used, where these are fewer than chance would use by a twentieth; else by how often flows meet again.
TEST(PolarizationText, SaysByWhatTwoTiersGoTogether) {
  const control::Testbed testbed = testbed_of(kLeafSpine);
  Polarization found = with_uneven(testbed.fabric, 0);
  found.tiers.emplace_back().tier.name = "aggregation down";
  Polarized& pair = found.pairs.emplace_back();
  pair.later = 1;
  pair.strength = 1.5;
  pair.cause = {CauseKind::kAlike, "both hash alike"};
  const auto text = [&](double used, bool does_harm) {
    pair.used = used;
    pair.does_harm = does_harm;
    return polarization_text(testbed, found);
  };
  EXPECT_THAT(text(0.94, true),
              HasSubstr("\nPOLARIZED: aggregation down by tor up: flows that share a link there use 94 "
                        "% of the links that chance would:\n  both hash alike\n"));
  EXPECT_THAT(text(0.96, true), HasSubstr("flows that share a link, or its place among its switch's, do so here again "
                                          "1.50 times as often as by chance:\n  both hash alike\n"));
  EXPECT_THAT(text(0.94, true), Not(HasSubstr("No harm is done")));
  EXPECT_THAT(text(0.94, false), HasSubstr("\nDependent: aggregation down by tor up: "));
  EXPECT_THAT(text(0.94, false), HasSubstr("  No harm is done: "));
}

TEST(PolarizationText, GivesTheReasonOfFewKeysOnce) {
  const control::Testbed testbed = testbed_of(kLeafSpine);
  const auto text = [&](CauseKind first, CauseKind second) {
    Polarization found = with_uneven(testbed.fabric, 0);
    found.tiers[0].cause = Cause{first, "the first reason"};
    TierShare& next = found.tiers.emplace_back();
    next.tier.name = "aggregation down";
    next.cause = Cause{second, "the second reason"};
    return polarization_text(testbed, found);
  };
  EXPECT_THAT(text(CauseKind::kFewKeys, CauseKind::kFewKeys),
              HasSubstr("  the first reason\n\nUNEVEN: aggregation down:\n  for the same reason\n"));
  EXPECT_THAT(text(CauseKind::kKeyPattern, CauseKind::kKeyPattern), HasSubstr("down:\n  the second reason\n"));
  EXPECT_THAT(text(CauseKind::kFewKeys, CauseKind::kKeyPattern), HasSubstr("down:\n  the second reason\n"));
  EXPECT_THAT(text(CauseKind::kKeyPattern, CauseKind::kFewKeys), HasSubstr("down:\n  the second reason\n"));
}

TEST(PolarizationJson, HasAnEntryForEachPairOfTiersByWhetherItDoesHarm) {
  const control::Testbed testbed = testbed_of(kLeafSpine);
  Polarization found = with_uneven(testbed.fabric, 0);
  found.tiers.emplace_back().tier.name = "aggregation down";
  found.pairs.push_back({.earlier = 0,
                         .later = 1,
                         .later_groups = {2, 4},
                         .strength = 1.23456,
                         .used = 0.5,
                         .does_harm = true,
                         .cause = {CauseKind::kAlike, "both hash alike"}});
  found.pairs.push_back({.earlier = 1,
                         .later = 0,
                         .later_groups = {},
                         .strength = 2,
                         .used = 0.25,
                         .does_harm = false,
                         .cause = {CauseKind::kSeeds, "only their seeds differ"}});
  const control::Json json = polarization_json(testbed, found, {});
  EXPECT_EQ(json["polarized"],
            control::Json::parse(R"([{"earlier": "tor up", "later": "aggregation down", "at": ["tor3", "tor5"],
      "together_over_chance": 1.235, "used_over_chance": 0.5, "cause": {"kind": "alike", "text":
      "both hash alike"}}])"));
  EXPECT_EQ(json["dependent"], control::Json::parse(R"([{"earlier": "aggregation down", "later": "tor up", "at": [],
      "together_over_chance": 2.0, "used_over_chance": 0.25, "cause": {"kind": "seeds", "text":
      "only their seeds differ"}}])"));
}

// Flows from the first host to the second, of which `differ` went by spine2 instead of spine1 and two are undecided.
class ComparisonReport : public testing::Test {
 protected:
  ComparisonReport() {
    const control::Fabric& fabric = testbed_.fabric;
    for (uint16_t i = 0; i < 6; ++i) {
      Probe probe{.from = node_of(fabric, "h1"), .to = node_of(fabric, "h2"), .qp = 17};
      probe.source_port = static_cast<uint16_t>(50'000 + i);
      flows_.push_back({.frame = frame_of(fabric, probe, {}), .frame_bytes = 0, .sender = {}, .left = {}});
      const bool differs = i < 4;
      ComparedFlow& flow = found_.flows.emplace_back();
      flow.verdict = differs ? FlowVerdict::kDiffers : FlowVerdict::kUndecided;
      ComparedHop& hop = flow.hops.emplace_back();
      hop.node = node_of(fabric, "tor1");
      hop.is_choice = true;
      hop.predicted = {1};
      hop.verdict = differs ? HopVerdict::kDiffers : HopVerdict::kNotSeen;
      if (differs) hop.seen = {{2, i}};
    }
  }
  std::string text(size_t rows) const { return comparison_text(testbed_.fabric, flows_, found_, rows); }
  std::string line(uint16_t i) const { return "10.0.1.2:" + std::to_string(50'000 + i) + " > 10.0.2.2:4791 QP 17"; }
  static size_t count(const std::string& text, const std::string& what) {
    size_t out = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
    return out;
  }

  control::Testbed testbed_ = testbed_of(kLeafSpine);
  std::vector<SightedFlow> flows_;
  PathComparison found_;
};

TEST_F(ComparisonReport, ListsAsManyRowsAsAreWantedAndCountsTheOthers) {
  for (const size_t rows : {size_t{1}, size_t{3}, size_t{4}, size_t{100}}) {
    const std::string all = text(rows);
    EXPECT_THAT(all, HasSubstr("6 flows: 0 agree, 4 differ, 2 undecided, 0 without a choice on their way"));
    const size_t undecided = all.find("\nUndecided\n");
    EXPECT_EQ(count(all.substr(0, undecided), " QP 17"), std::min<size_t>(rows, 4)) << all;
    EXPECT_EQ(count(all.substr(undecided), " QP 17"), std::min<size_t>(rows, 2)) << all;
    EXPECT_EQ(count(all, "tor1 "), std::min<size_t>(rows, 4));
    EXPECT_EQ(count(all, "… and "), (rows < 4 ? 1U : 0U) + (rows < 2 ? 1U : 0U));
    if (rows == 3) {
      EXPECT_THAT(all, HasSubstr("… and 1 more: --all or --json has them\n"));
    }
  }
}

TEST_F(ComparisonReport, SaysOfEachDifferenceWhatWasPredictedAndWhatWasSeen) {
  const std::string all = text(100);
  EXPECT_THAT(all, testing::ContainsRegex("QP 17 +tor1 +Ethernet4 +Ethernet8 \\(by the next switch\\)\n"));
  EXPECT_THAT(all, testing::ContainsRegex("QP 17 +tor1 +Ethernet4 +Ethernet8 \\(1 packet\\)\n"));
  EXPECT_THAT(all, testing::ContainsRegex("QP 17 +tor1 +Ethernet4 +Ethernet8 \\(3 packets\\)\n"));
  for (uint16_t i = 0; i < 6; ++i) EXPECT_THAT(all, HasSubstr(line(i)));
  EXPECT_THAT(all, testing::ContainsRegex("QP 17 +not seen behind a switch that had a choice\n"));
  found_.flows[4].hops.clear();
  found_.flows[5].hops[0].why = "drawn";
  EXPECT_THAT(text(100), testing::ContainsRegex("QP 17 +nobody knows where it comes from, and no switch was seen"));
  EXPECT_THAT(text(100), testing::ContainsRegex("QP 17 +drawn\n"));
  EXPECT_EQ(comparison_json(testbed_.fabric, flows_, found_)["compared"][5]["hops"][0]["why"], "drawn");
}

TEST_F(ComparisonReport, WithoutDifferencesOrDoubtsHasNoListOfThem) {
  for (ComparedFlow& flow : found_.flows) {
    flow.verdict = FlowVerdict::kAgrees;
    flow.hops[0].verdict = HopVerdict::kAgrees;
  }
  EXPECT_THAT(text(100), Not(HasSubstr("Differences")));
  EXPECT_THAT(text(100), Not(HasSubstr("Undecided")));
}

// A capture has the whole frame, or its first 64 bytes and how long it was.
TEST_F(ComparisonReport, KnowsAFlowByTheHeadersOfAWholeFrameOrACutOne) {
  for (const bool is_cut : {false, true}) {
    SightedFlow& flow = flows_[0];
    const auto whole = static_cast<uint32_t>(flow.frame.size());
    if (is_cut) {
      flow.frame.resize(58);
      flow.frame_bytes = whole;
    }
    const control::Json json = comparison_json(testbed_.fabric, flows_, found_)["compared"][0];
    EXPECT_EQ(json["source"], "10.0.1.2");
    EXPECT_EQ(json["destination"], "10.0.2.2");
    EXPECT_EQ(json["source_port"], 50'000) << whole;
    EXPECT_EQ(json["destination_port"], 4791);
    EXPECT_EQ(json["qp"], 17);
    EXPECT_EQ(json["hops"],
              control::Json::parse(R"([{"switch": "tor1", "choice": true, "predicted": ["Ethernet4"], "actual":
        [{"port": "Ethernet8", "inferred": true}], "verdict": "differs"}])"));
  }
}

constexpr const char* kTree = "kind: fat-tree, k: 4, hosts_per_tor: 1";

// A role whose switches have what all have gets a profile of its own; else they are named, or their profile is changed.
TEST(CureYaml, GoesToTheRoleToItsProfileOrToItsSwitches) {
  const RoleChanges changes{{control::Role::kCore, {.offset = 16}}};
  EXPECT_EQ(yaml_of(testbed_of(kTree), changes),
            "profiles:\n  cure-core: {base: default, hash: {offset: 16}}\nroles:\n  core: cure-core\n");
  EXPECT_EQ(yaml_of(testbed_of(kTree, "profiles: {default: {hash: {seed: 3}}}\n"), changes),
            "profiles:\n  cure-core: {base: default, hash: {offset: 16}}\nroles:\n  core: cure-core\n")
      << "which other switches have as well";
  EXPECT_EQ(
      yaml_of(testbed_of(kTree, "profiles: {default: {hash: {seed: 3}}, a: {}}\nroles: {tor: a, aggregation: a}\n"),
              changes),
      "profiles:\n  cure-core: {base: default, hash: {offset: 16}}\nroles:\n  core: cure-core\n")
      << "what all have unless they are told stays";
  EXPECT_EQ(yaml_of(testbed_of(kTree, "profiles: {c: {hash: {seed: 3}}}\nroles: {core: c}\n"), changes),
            "profiles:\n  c: {hash: {offset: 16}}\n");
  EXPECT_EQ(yaml_of(testbed_of(kTree, "profiles: {c: {hash: {seed: 3}}}\nroles: {core: c, tor: c}\n"), changes),
            "profiles:\n  cure-core: {base: c, hash: {offset: 16}}\ntopology:\n  nodes:\n"
            "    core1: {profile: cure-core}\n    core2: {profile: cure-core}\n    core3: {profile: cure-core}\n"
            "    core4: {profile: cure-core}\n");
  EXPECT_EQ(
      yaml_of(testbed_of(kTree, "profiles: {c: {hash: {seed: 3}}}\ntopology: {nodes: {core2: {profile: c}}}\n"),
              changes),
      "profiles:\n  c: {hash: {offset: 16}}\n  cure-core-default: {base: default, hash: {offset: 16}}\ntopology:\n"
      "  nodes:\n    core1: {profile: cure-core-default}\n    core3: {profile: cure-core-default}\n"
      "    core4: {profile: cure-core-default}\n");
  EXPECT_EQ(yaml_of(testbed_of(kTree), {{control::Role::kCore, {.buckets = 509}}}),
            "profiles:\n  cure-core: {base: default, groups: {kind: resilient, buckets: 509}}\nroles:\n"
            "  core: cure-core\n");
}

// What LAGs say of themselves stays, and what they do not say is said for them: that alone which changes.
TEST(CureYaml, KeepsTheHashOfLagsAsItIs) {
  const auto yaml = [](const std::string& hash, const std::string& lag_hash, const HashChange& change) {
    return yaml_of(
        testbed_of(kTree, "profiles: {c: {hash: {" + hash + "}, lag_hash: {" + lag_hash + "}}}\nroles: {core: c}\n"),
        {{control::Role::kCore, change}});
  };
  const std::string chip = "algorithm: XXH3, seed: 3";
  const std::string kernel = "model: LINUX, seed: 3, policy: 1";
  EXPECT_EQ(yaml(chip, "seed: 4, offset: 2", {.seed = 9}), "profiles:\n  c: {hash: {seed: 9}, lag_hash: {seed: 4}}\n");
  EXPECT_EQ(yaml(chip, "seed: 4, offset: 2", {.offset = 9}),
            "profiles:\n  c: {hash: {offset: 9}, lag_hash: {offset: 2}}\n");
  EXPECT_EQ(yaml(chip, "seed: 4", {.algorithm = control::HashAlgorithm::kCrc}),
            "profiles:\n  c: {hash: {algorithm: CRC}, lag_hash: {algorithm: XXH3}}\n");
  EXPECT_EQ(yaml(kernel, "policy: 0", {.seed = 9}), "profiles:\n  c: {hash: {seed: 9}, lag_hash: {seed: 3}}\n");
  EXPECT_EQ(yaml(kernel, "seed: 4", {.linux_policy = 0}),
            "profiles:\n  c: {hash: {policy: 0}, lag_hash: {policy: 1}}\n");
  EXPECT_EQ(yaml(chip, "seed: 4", {.seed = 9, .of_lags = true}), "profiles:\n  c: {lag_hash: {seed: 9}}\n");
}

TEST(CureYaml, PutsTheQueuePairLastIntoTheFieldsThatTheProfileHas) {
  EXPECT_EQ(yaml_of(testbed_of(kTree, "profiles: {default: {hash: {fields: [SRC_IP, RDMA_BTH_DEST_QP, DST_IP]}}}\n"),
                    {{control::Role::kCore, {.add_qp = true}}}),
            "profiles:\n  cure-core: {base: default, hash: {fields: [SRC_IP, DST_IP, RDMA_BTH_DEST_QP]}}\nroles:\n"
            "  core: cure-core\n");
}

TEST(CureWords, NameEachChange) {
  EXPECT_EQ(words_of({{control::Role::kTor, {.algorithm = control::HashAlgorithm::kXxh3, .seed = 10, .offset = 5}},
                      {control::Role::kTor, {.seed = 25, .of_lags = true}},
                      {control::Role::kCore, {.linux_policy = 1, .add_qp = true, .buckets = 509}}}),
            "tor: algorithm XXH3, seed 10, offset 5; tor lags: seed 25; core: policy 1, the destination QP in the key, "
            "resilient groups of 509 buckets");
}

}  // namespace
}  // namespace softspine::analysis
