// SPDX-License-Identifier: Apache-2.0
// Polarization as the laboratory tells it: what goes together and why, what is uneven, cures, disjoint ports.
#include "analysis/explain/polarization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>

#include "analysis/explain/cure_text.hpp"
#include "analysis/explain/cures.hpp"
#include "analysis/explain/polarization_picture.hpp"
#include "analysis/explain/probe.hpp"
#include "analysis/explain/source_ports.hpp"
#include "control/load/load.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rng.hpp"
#include "testbeds/run/traffic.hpp"
#include "tests/harness/seed.hpp"
#include "tests/harness/source_root.hpp"

namespace softspine::analysis {
namespace {

control::Testbed fat_tree(const std::string& profiles) {
  const auto testbed = control::parse_testbed(
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
  const control::Fabric& fabric = walker.testbed().fabric;
  std::vector<uint32_t> hosts;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == control::NodeKind::kHost) hosts.push_back(n);
  }
  dataplane::Rng rng{tests::seed(), 81};
  std::vector<FlowProbe> out;
  while (out.size() < count) {
    Probe probe{.from = hosts[rng.below(hosts.size())], .to = hosts[rng.below(hosts.size())]};
    if (probe.from == probe.to) continue;
    probe.source_port = fixed_port != 0 ? fixed_port : static_cast<uint16_t>(rng.next());
    probe.qp = static_cast<uint32_t>(rng.next() & 0xffffff);
    const control::LinkEnd sender{probe.from, 0};
    out.push_back({frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node)), sender});
  }
  return out;
}

Polarization look_at(const control::Testbed& testbed, uint32_t flows) {
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  return polarization_of(walker, flows_of(walker, flows));
}

std::vector<TierVerdict> verdicts_of(const Polarization& found) {
  std::vector<TierVerdict> out;
  for (const TierShare& tier : found.tiers) out.push_back(tier.verdict);
  return out;
}

// Two tiers of a fat tree whose aggregation switches have a profile of their own.
Polarization with_hashes(const std::string& tor, const std::string& aggregation) {
  return look_at(fat_tree("profiles:\n  t: {hash: {" + tor + "}}\n  a: {hash: {" + aggregation +
                          "}}\nroles: {tor: t, aggregation: a}\n"),
                 8'000);
}
std::pair<CauseKind, std::string> cause_with(const std::string& tor, const std::string& aggregation) {
  const Polarization found = with_hashes(tor, aggregation);
  if (found.pairs.size() != 1) {
    ADD_FAILURE() << found.pairs.size() << " pairs";
    return {};
  }
  return {found.pairs[0].cause.kind, found.pairs[0].cause.text};
}

TEST(Polarization, OfAlikeTiersIsFoundWithItsReason) {
  const Polarization found = look_at(fat_tree(""), 8'000);
  EXPECT_EQ(found.arrived, 8'000u);
  ASSERT_EQ(found.tiers.size(), 2u);
  EXPECT_EQ(found.tiers[0].tier.name, "tor up");
  EXPECT_EQ(found.tiers[1].tier.name, "aggregation up");
  EXPECT_FALSE(found.tiers[0].is_unbalanced());
  EXPECT_EQ(found.tiers[1].verdict, TierVerdict::kPolarized);
  EXPECT_EQ(found.tiers[1].links, 128u);
  EXPECT_EQ(found.tiers[1].idle, 96u) << "one of four";
  EXPECT_NEAR(found.tiers[1].by_flows.max_over_mean, 4, 1e-9);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_NEAR(found.pairs[0].used, 0.25, 0.01);
  EXPECT_NEAR(found.pairs[0].strength, 4, 0.2);
  EXPECT_EQ(found.pairs[0].cause.kind, CauseKind::kAlike);
  EXPECT_THAT(found.pairs[0].cause.text, testing::HasSubstr("both hash alike"));
}

TEST(Polarization, OfSeedsOnlyIsNamedLinear) {
  const auto [kind, text] = cause_with("seed: 0", "seed: 5");
  EXPECT_EQ(kind, CauseKind::kSeeds);
  EXPECT_THAT(text, testing::HasSubstr("linear"));
}

// Four links are chosen by two bits: rotated by one, one of them is the same.
TEST(Polarization, OfBitsThatOverlapNamesHowMany) {
  const auto [kind, text] = cause_with("offset: 10", "offset: 11");
  EXPECT_EQ(kind, CauseKind::kSharedBits);
  EXPECT_THAT(text, testing::HasSubstr("1 of the bits"));
}

// The lower half of a CRC-32C chooses as all of it does.
TEST(Polarization, OfTwoAlgorithmsWithTheSameBitsIsFoundByRank) {
  const auto [kind, text] = cause_with("algorithm: CRC", "algorithm: CRC_32LO, seed: 3");
  EXPECT_EQ(kind, CauseKind::kSharedBits);
  EXPECT_THAT(text, testing::HasSubstr("2 of the bits"));
}

control::Testbed five_by_five(const std::string& hash) {
  std::string text =
      "name: five\nfabric: {kind: fat-tree, k: 10, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
      "fabric_link: {rate: 100Gbps}}\nprofiles: {a: {hash: {" +
      hash + "}}}\nroles: {aggregation: a}\n";
  const auto testbed = control::parse_testbed(text, "test.yaml");
  EXPECT_TRUE(testbed);
  return testbed ? *testbed : control::Testbed{};
}

// 2^32 − 1 is a multiple of 5: an offset multiplies the hash modulo 5 by a power of two, and renames the five members.
TEST(Polarization, OfFiveMembersIsNotCuredByAnOffsetAlone) {
  const Polarization found = look_at(five_by_five("offset: 10"), 8'000);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_EQ(found.pairs[0].cause.kind, CauseKind::kRotation);
  EXPECT_THAT(found.pairs[0].cause.text, testing::HasSubstr("factor 5"));
  EXPECT_EQ(found.tiers[1].idle, found.tiers[1].links * 4 / 5) << "5 of 25 used";
  EXPECT_FALSE(look_at(five_by_five("offset: 10, seed: 77"), 8'000).is_unbalanced())
      << "with another seed it parts them";
}

TEST(Polarization, IsNotFoundWhereOffsetsDifferOrFlowsAreFew) {
  EXPECT_FALSE(with_hashes("offset: 0", "offset: 10").is_unbalanced());
  EXPECT_FALSE(look_at(fat_tree(""), 20).tiers[0].is_unbalanced());
}

// Whom flows go to is demand: all to one host, over groups that an ideal hash fills as evenly.
TEST(Polarization, IsNoMatterOfAnIncast) {
  const auto testbed = fat_tree("profiles: {a: {hash: {algorithm: XXH3, seed: 3}}}\nroles: {aggregation: a}\n");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  std::vector<FlowProbe> incast;
  const FlowProbe last = flows_of(walker, 1).front();
  const uint32_t to = dataplane::load32(last.frame.data() + 30);
  for (FlowProbe& flow : flows_of(walker, 60'000)) {
    if (dataplane::load32(flow.frame.data() + 30) == to) incast.push_back(std::move(flow));
  }
  ASSERT_GT(incast.size(), 1'000u);
  EXPECT_FALSE(polarization_of(walker, incast).is_unbalanced());
}

TEST(Polarization, OfBytesSeesTheLargeFlowsThatShareALink) {
  const auto testbed = fat_tree("profiles: {a: {hash: {algorithm: XXH3, seed: 3}}}\nroles: {aggregation: a}\n");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  auto flows = flows_of(walker, 4'000);
  const FlowChoices choices = choices_of(walker, flows);
  for (uint64_t i = 0; i < flows.size(); ++i) {
    const auto met = choices.of(i);
    flows[i].bytes = !met.empty() && met[0].link == 0 ? 10'000 : 1'000;
  }
  const Polarization found = polarization_of(walker, flows);
  EXPECT_EQ(found.tiers[0].verdict, TierVerdict::kUneven);
  ASSERT_TRUE(found.tiers[0].by_bytes);
  EXPECT_GT(found.tiers[0].by_bytes->max_over_mean, 2);
  EXPECT_LT(found.tiers[0].by_flows.max_over_mean, 1.6);
  for (FlowProbe& flow : flows) flow.bytes = 1'000;
  EXPECT_FALSE(polarization_of(walker, flows).tiers[0].by_bytes) << "flows of one size say it all";
}

TEST(Cures, AreThoseThatWorkTheLeastChangeFirst) {
  const auto testbed = fat_tree("");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  const auto flows = flows_of(walker, 8'000);
  const auto cures = find_cures(walker, flows, polarization_of(walker, flows));
  std::vector<std::string> names;
  for (const Cure& cure : cures) names.push_back(cure.name);
  EXPECT_THAT(names, testing::ElementsAre("offset", "seed_offset", "algorithm", "buckets"))
      << "a seed of a CRC cures nothing";
  for (const Cure& cure : cures) EXPECT_LT(cure.worst, 1.2 * cure.by_chance) << cure.name;
  EXPECT_THAT(yaml_of(testbed, cures[0].changes),
              testing::HasSubstr("cure-aggregation: {base: default, hash: {offset:"));
}

// SONiC documents offsets up to 15: the first cure keeps to it, also from an offset of 10 and in two roles at once.
TEST(Cures, TrySmallOffsetsFirst) {
  for (const char* roles : {"roles: {tor: a, aggregation: a}\n", "roles: {tor: a, aggregation: a, core: a}\n"}) {
    const auto testbed = control::parse_testbed(
        std::string("name: zones\nfabric: {kind: ai-zone, zones: 2, racks: 4, servers_per_rack: 1, nics_per_server: 4, "
                    "ctsws: 4, atsws: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}, zone_link: {rate: "
                    "100Gbps}}\nprofiles: {a: {hash: {offset: 10}}}\n") +
            roles,
        "test.yaml");
    ASSERT_TRUE(testbed);
    Walker walker{*testbed, std::vector<bool>(testbed->fabric.links.size(), true)};
    const auto flows = flows_of(walker, 4'000);
    const auto cures = find_cures(walker, flows, polarization_of(walker, flows));
    ASSERT_FALSE(cures.empty());
    EXPECT_EQ(cures[0].name, "offset");
    for (const auto& [role, change] : cures[0].changes) EXPECT_LE(change.offset.value_or(0), 15) << roles;
  }
}

// Four ToRs and four spines, four links between each two of them, which are a LAG.
std::string with_lags(const std::string& profiles) {
  std::string lags;
  for (const char tor : {'1', '2', '3', '4'}) {
    for (const char spine : {'1', '2', '3', '4'})
      lags += std::string("    - {name: ") + tor + "-" + spine + ", between: [tor" + tor + ", spine" + spine + "]}\n";
  }
  return "name: lags\nfabric: {kind: leaf-spine, tors: 4, spines: 4, links_per_spine: 4, hosts_per_tor: 4, host_link: "
         "{rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\ntopology:\n  lags:\n" +
         lags + profiles;
}

TEST(PolarizationOfLags, FollowsFromTheChoiceOfTheLagWhereBothHashesAreAlike) {
  const auto parsed = control::parse_testbed(with_lags(""), "test.yaml");
  ASSERT_TRUE(parsed) << to_string(parsed.error().front());
  const Polarization found = look_at(*parsed, 6'000);
  ASSERT_EQ(found.tiers.size(), 3u);
  EXPECT_EQ(found.tiers[0].tier.name, "tor up");
  EXPECT_EQ(found.tiers[0].links, 16u) << "LAGs are one link each";
  EXPECT_EQ(found.tiers[0].verdict, TierVerdict::kAsChance);
  EXPECT_EQ(found.tiers[1].tier.name, "tor up lags");
  EXPECT_EQ(found.tiers[1].links, 64u);
  EXPECT_EQ(found.tiers[1].idle, 48u) << "h mod 4 says both which LAG and which member";
  EXPECT_EQ(found.tiers[2].tier.name, "aggregation down lags");
  EXPECT_EQ(found.tiers[2].verdict, TierVerdict::kPolarized) << "the spines hash like the ToRs";
  ASSERT_FALSE(found.pairs.empty());
  EXPECT_EQ(found.pairs[0].earlier, 0u);
  EXPECT_EQ(found.pairs[0].later, 1u);
  EXPECT_EQ(found.pairs[0].cause.kind, CauseKind::kAlike);
}

TEST(PolarizationOfLags, IsCuredByWhatIsOffered) {
  const std::string text = with_lags("");
  const auto parsed = control::parse_testbed(text, "test.yaml");
  ASSERT_TRUE(parsed);
  Walker walker{*parsed, std::vector<bool>(parsed->fabric.links.size(), true)};
  const auto flows = flows_of(walker, 6'000);
  const auto cures = find_cures(walker, flows, polarization_of(walker, flows));
  ASSERT_FALSE(cures.empty());
  EXPECT_EQ(cures[0].name, "offset") << "a seed of a CRC cures nothing";
  const std::string cure = yaml_of(*parsed, cures[0].changes);
  EXPECT_THAT(cure, testing::HasSubstr("lag_hash: {offset: "));
  EXPECT_THAT(cure, testing::Not(testing::HasSubstr(" hash: "))) << "ECMP groups are well";
  const auto cured = control::parse_testbed(text + cure, "cured.yaml");
  ASSERT_TRUE(cured) << to_string(cured.error().front());
  EXPECT_FALSE(look_at(*cured, 6'000).is_unbalanced()) << cure;
}

TEST(PolarizationOfLags, IsNotThereWithASeedOfTheirOwnOfAHashThatMixes) {
  const auto of = [](const std::string& lag_hash) {
    const auto parsed =
        control::parse_testbed(with_lags("profiles:\n  default: {hash: {algorithm: XXH3}" + lag_hash +
                                         "}\n  a: {base: default, lag_hash: {seed: 3}}\nroles: {aggregation: a}\n"),
                               "test.yaml");
    EXPECT_TRUE(parsed);
    return look_at(*parsed, 6'000);
  };
  EXPECT_TRUE(of("").is(TierVerdict::kPolarized));
  EXPECT_FALSE(of(", lag_hash: {seed: 25}").is_unbalanced());
}

TEST(Cures, AreNotOfferedToWhoIsWell) {
  const auto testbed = fat_tree("profiles: {a: {hash: {offset: 10}}}\nroles: {aggregation: a}\n");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  const auto flows = flows_of(walker, 8'000);
  EXPECT_TRUE(find_cures(walker, flows, polarization_of(walker, flows)).empty());
}

// A profile that a role has for itself is changed where it stands, and who may have it as a base is told to stay.
TEST(Cures, ChangeARolesOwnProfileAndNoHeirOfIt) {
  const auto testbed = fat_tree(
      "profiles:\n  a: {hash: {seed: 5}}\n  c: {base: a, hash: {seed: 7}}\nroles: {aggregation: a, core: c}\n");
  const RoleChanges changes{{control::Role::kAggregation, {.offset = 16}}};
  EXPECT_EQ(yaml_of(testbed, changes), "profiles:\n  a: {hash: {offset: 16}}\n  c: {hash: {offset: 0}}\n");
}

TEST(Cures, OfOneSourcePortAreQps) {
  const auto parsed = control::parse_testbed(
      "name: few\nfabric: {kind: leaf-spine, tors: 2, spines: 8, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
      "fabric_link: "
      "{rate: 100Gbps}}\n",
      "test.yaml");
  ASSERT_TRUE(parsed);
  Walker walker{*parsed, std::vector<bool>(parsed->fabric.links.size(), true)};
  const auto flows = flows_of(walker, 500, 49'152);
  const Polarization found = polarization_of(walker, flows);
  EXPECT_EQ(found.tiers[0].keys, 2u) << "h1 to h2, and back";
  EXPECT_EQ(found.tiers[0].verdict, TierVerdict::kUneven);
  EXPECT_EQ(found.tiers[0].idle, 14u);
  ASSERT_TRUE(found.tiers[0].cause);
  EXPECT_EQ(found.tiers[0].cause->kind, CauseKind::kFewKeys);
  EXPECT_THAT(found.tiers[0].cause->text, testing::HasSubstr("500 flows have 2 keys"));
  const auto cures = find_cures(walker, flows, found);
  ASSERT_FALSE(cures.empty());
  EXPECT_EQ(cures[0].name, "qp");
}

// Members whose number divides 2^32 − 1, as parallel links have them on the way up and down.
TEST(Polarization, OfMembersThatDivideAllOnesIsRenamedByAnOffset) {
  for (const char* members : {"3", "5", "15", "17"}) {
    const auto parsed = control::parse_testbed(
        std::string("name: r\nfabric: {kind: leaf-spine, tors: 3, spines: 1, links_per_spine: ") + members +
            ", hosts_per_tor: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
            "profiles: {a: {hash: {offset: 13}}}\nroles: {aggregation: a}\n",
        "test.yaml");
    ASSERT_TRUE(parsed);
    const Polarization found = look_at(*parsed, 4'000);
    ASSERT_EQ(found.pairs.size(), 1u) << members;
    EXPECT_EQ(found.pairs[0].cause.kind, CauseKind::kRotation) << members;
    EXPECT_THAT(found.pairs[0].cause.text, testing::HasSubstr(std::string("factor ") + members + " in"));
  }
}

// The part of tor5's, tor7's and tor9's uplinks that is used until the fullest one is through: 1, 4 and 16 queue pairs
// of each host, by the hash that the tables have.
std::array<double, 3> used_of_e_ecmp(Walker& walker, const std::vector<FlowProbe>& flows) {
  const Polarization found = polarization_of(walker, flows);
  std::array<double, 3> out{};
  for (const EcmpGroupLoad& load : found.tiers[0].groups) {
    const LinkGroup& group = found.choices.groups[load.group];
    const std::string& tor = walker.testbed().fabric.nodes[group.node].name;
    const size_t place = tor == "tor5" ? 0 : tor == "tor7" ? 1 : tor == "tor9" ? 2 : 3;
    if (place == 3) continue;
    const double all = std::accumulate(load.flows.begin(), load.flows.end(), 0.0);
    out[place] = all / static_cast<double>(group.links.size()) / static_cast<double>(std::ranges::max(load.flows));
  }
  return out;
}

std::vector<FlowProbe> flows_of_workload(Walker& walker, const control::Testbed& testbed) {
  std::vector<FlowProbe> flows;
  const auto plan = testbeds::plan_traffic(testbed);
  for (const testbeds::PlannedFlow& flow : plan) {
    const Probe probe{.from = flow.source,
                      .to = flow.destination,
                      .source_port = flow.flow.source_port,
                      .qp = flow.flow.destination_qp};
    const control::LinkEnd sender{probe.from, 0};
    flows.push_back({frame_of(testbed.fabric, probe, walker.router_mac(testbed.fabric.peer_of(sender).node)), sender});
  }
  return flows;
}

// What an ideal hash uses on average: balls drawn into eight bins, the mean bin over the fullest.
std::array<double, 3> used_by_drawing() {
  constexpr uint32_t kDraws = 20'000;
  std::mt19937 random(1);
  std::array<double, 3> out{};
  for (size_t i = 0; i < out.size(); ++i) {
    const uint32_t balls = 8U << 2 * i;
    for (uint32_t n = 0; n < kDraws; ++n) {
      std::array<uint32_t, 8> bins{};
      for (uint32_t ball = 0; ball < balls; ++ball) ++bins[random() % bins.size()];
      out[i] += balls / 8.0 / std::ranges::max(bins) / kDraws;
    }
  }
  return out;
}

struct UsedByNumbers {
  control::QpNumbering numbering;
  std::array<double, 3> crc;  // on average over seeds of the run, which mlx5's and random numbers follow from
};

// The figures of docs/hashing.md. A CRC parts eight consecutive numbers that begin with a multiple of eight over eight
// links: sixteen that begin elsewhere leave a link at most one too many, by host. An ideal hash has the same figures
// for all numbers.
TEST(Polarization, OfShippedEEcmpIsWhatNumbersAndLinearHashGive) {
  const auto testbed = control::load_testbed((tests::source_root() / "testbeds/e-ecmp.yaml").string());
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  Walker walker{*testbed, std::vector<bool>(testbed->fabric.links.size(), true)};
  const std::array<double, 3> drawn = used_by_drawing();
  using enum control::QpNumbering;
  for (const UsedByNumbers& expected :
       {UsedByNumbers{kRxe, {0.50, 0.80, 0.94}}, UsedByNumbers{kMlx5, {0.41, 0.63, 0.76}},
        UsedByNumbers{kHns, {0.50, 1, 1}}, UsedByNumbers{kIonic, {0.50, 1, 1}}, UsedByNumbers{kRandom, drawn}}) {
    std::array<double, 3> by_crc{};
    std::array<double, 3> by_ideal{};
    constexpr uint32_t kSeedsTried = 150;
    for (uint32_t seed = 0; seed < kSeedsTried; ++seed) {
      control::Testbed numbered = *testbed;
      numbered.run.seed = seed;
      for (control::Workload& workload : numbered.workloads) workload.qp_numbers = expected.numbering;
      const std::vector<FlowProbe> flows = flows_of_workload(walker, numbered);
      Walker hashed =
          changed_by(walker, {{control::Role::kTor, {.algorithm = control::HashAlgorithm::kXxh3, .seed = seed}}});
      const auto crc = used_of_e_ecmp(walker, flows);
      const auto ideal = used_of_e_ecmp(hashed, flows);
      for (size_t i = 0; i < drawn.size(); ++i) {
        by_crc[i] += crc[i] / kSeedsTried;
        by_ideal[i] += ideal[i] / kSeedsTried;
      }
    }
    for (size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_NEAR(by_crc[i], expected.crc[i], 0.025) << "numbering " << static_cast<int>(expected.numbering);
      EXPECT_NEAR(by_ideal[i], drawn[i], 0.025) << "numbering " << static_cast<int>(expected.numbering);
    }
  }
}

TEST(Picture, HasALegendNamesABandAndWhatIsIdle) {
  const auto testbed = fat_tree("");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  const std::string svg = polarization_picture(testbed.fabric, polarization_of(walker, flows_of(walker, 8'000)));
  EXPECT_THAT(svg, testing::HasSubstr("aggregation up: POLARIZED"));
  EXPECT_THAT(svg, testing::HasSubstr("where an ideal hash has 19 of 20 links"));
  EXPECT_THAT(svg, testing::HasSubstr(">p1-agg1<"));
  EXPECT_THAT(svg, testing::HasSubstr(">4.0<")) << "the scale goes to the fullest link";
  size_t idle = 0;
  for (size_t at = svg.find(": no flow"); at != std::string::npos; at = svg.find(": no flow", at + 1)) ++idle;
  // The i-th switch of a pod uses its i-th link: of its neighbours' idle links between two used ones, three runs a pod.
  EXPECT_EQ(idle, 24u);
}

// Up the tiers, then down: in the order of the way, whichever flow comes first.
TEST(Polarization, NamesFourTiersInTheOrderOfTheWay) {
  const auto parsed = control::parse_testbed(
      "name: zones\nfabric: {kind: ai-zone, zones: 2, racks: 2, servers_per_rack: 1, nics_per_server: 4, ctsws: 4, "
      "links_per_ctsw: 2, atsws: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}, zone_link: {rate: "
      "100Gbps}}\nprofiles: {a: {hash: {algorithm: XXH3, seed: 3}}, c: {hash: {algorithm: XXH3, seed: 4}}}\nroles: "
      "{aggregation: a, core: c}\n",
      "test.yaml");
  ASSERT_TRUE(parsed);
  const Polarization found = look_at(*parsed, 2'000);
  std::vector<std::string> names;
  for (const TierShare& tier : found.tiers) names.push_back(tier.tier.name);
  EXPECT_THAT(names, testing::ElementsAre("tor up", "aggregation up", "core down", "aggregation down"));
  EXPECT_THAT(verdicts_of(found), testing::ElementsAre(TierVerdict::kAsChance, TierVerdict::kAsChance,
                                                       TierVerdict::kAsChance, TierVerdict::kDependent))
      << "the switches that choose by one hash on the way up and on the way down: from four cores, which makes it even";
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_EQ(found.tiers[found.pairs[0].earlier].tier.name, "aggregation up");
  EXPECT_FALSE(found.pairs[0].does_harm);
}

// Three tiers that hash alike over four links each: the second and the third follow from the first. That the third also
// goes with the second is the same cause's shadow.
TEST(Polarization, OfOneCauseHasNoShadows) {
  const auto parsed = control::parse_testbed(
      "name: zones\nfabric: {kind: ai-zone, zones: 2, racks: 4, servers_per_rack: 1, nics_per_server: 4, ctsws: 4, "
      "atsws: "
      "4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}, zone_link: {rate: 100Gbps}}\n",
      "test.yaml");
  ASSERT_TRUE(parsed);
  const Polarization found = look_at(*parsed, 4'000);
  EXPECT_THAT(verdicts_of(found),
              testing::ElementsAre(TierVerdict::kAsChance, TierVerdict::kPolarized, TierVerdict::kPolarized));
  ASSERT_EQ(found.pairs.size(), 2u);
  for (const Polarized& pair : found.pairs) EXPECT_EQ(found.tiers[pair.earlier].tier.name, "tor up");
}

// One plane, sixty aggregation switches that each have one bit for two cores: half of the links carry nothing.
TEST(Polarization, OfHalfOfTheLinksIdleIsNotAsEvenAsChance) {
  const auto parsed = control::parse_testbed(
      "name: hpn\nfabric: {kind: hpn, segments: 2, servers_per_segment: 8, rails: 1, planes: 1, "
      "aggregations_per_plane: "
      "60, cores: 16, core_uplinks: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n",
      "test.yaml");
  ASSERT_TRUE(parsed);
  const Polarization found = look_at(*parsed, 5'000);
  EXPECT_EQ(found.tiers[1].verdict, TierVerdict::kPolarized);
}

TEST(SourcePorts, AreDisjointAndAsManyAsTheFirstTierAllows) {
  const auto testbed = fat_tree("profiles: {a: {hash: {algorithm: XXH3, seed: 3}}}\nroles: {aggregation: a}\n");
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  const auto is_host = [](const auto& node) { return node.kind == control::NodeKind::kHost; };
  const auto& nodes = testbed.fabric.nodes;
  const auto first = static_cast<uint32_t>(std::ranges::find_if(nodes, is_host) - nodes.begin());
  const auto last = static_cast<uint32_t>(nodes.rend() - std::find_if(nodes.rbegin(), nodes.rend(), is_host) - 1);
  const PortSearch found = disjoint_source_ports(walker, {.from = first, .to = last}, 100);
  EXPECT_EQ(found.disjoint.size(), 4u);
  EXPECT_EQ(found.paths_there, 16u) << "4 up, 4 up, one way down";
  EXPECT_EQ(found.paths_reached, 16u);
  std::set<control::LinkEnd> links;
  for (const FoundPath& path : found.disjoint) {
    EXPECT_EQ(path.links.size(), 4u);
    links.insert(path.links.begin(), path.links.end());
  }
  EXPECT_EQ(links.size(), 16u);
}

}  // namespace
}  // namespace softspine::analysis
