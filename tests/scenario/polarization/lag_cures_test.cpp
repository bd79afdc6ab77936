// SPDX-License-Identifier: Apache-2.0
// Polarization that comes from the hash of LAGs, and every cure that is offered for it: its keys are put into the file,
// and then each switch hashes as it was tried, the flows go where they went, and all members carry some.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "analysis/explain/cure_text.hpp"
#include "analysis/explain/cures.hpp"
#include "control/load/load.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/polarization/generated_fabric.hpp"
#include "tests/scenario/polarization/merged_text.hpp"

namespace softspine::tests {
namespace {

using analysis::Cure;
using analysis::FlowProbe;
using analysis::HashChange;
using analysis::Polarization;
using analysis::RoleChanges;
using analysis::TierShare;
using analysis::Walker;
using control::HashConfig;
using control::NodeKind;
using control::Role;
using control::Testbed;

constexpr uint32_t kFlows = 6'000;
constexpr const char* kRates = "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}";

// Four ToRs and four spines, four links between each two of them, which are a LAG.
std::string leaf_spine(const std::string& profiles) {
  std::string text = fmt::format(
      "name: lags\nfabric: {{kind: leaf-spine, tors: 4, spines: 4, links_per_spine: 4, hosts_per_tor: 4, "
      "{}}}\n{}topology:\n  lags:\n",
      kRates, profiles);
  for (int tor = 1; tor <= 4; ++tor) {
    for (int spine = 1; spine <= 4; ++spine)
      text += fmt::format("    - {{name: l{0}-{1}, between: [tor{0}, spine{1}]}}\n", tor, spine);
  }
  return text;
}

// ToRs choose among four LAGs of two links, then CTSWs among four ATSWs.
std::string zones(const std::string& profiles) {
  std::string text = fmt::format(
      "name: zones\nfabric: {{kind: ai-zone, zones: 2, racks: 2, servers_per_rack: 1, nics_per_server: 8, ctsws: 4, "
      "links_per_ctsw: 2, atsws: 4, {}, zone_link: {{rate: 100Gbps}}}}\n{}topology:\n  lags:\n",
      kRates, profiles);
  for (int zone = 1; zone <= 2; ++zone) {
    for (int rack = 1; rack <= 2; ++rack) {
      for (int ctsw = 1; ctsw <= 4; ++ctsw)
        text += fmt::format("    - {{name: l{0}-{1}-{2}, between: [z{0}-rtsw{1}, z{0}-ctsw{2}]}}\n", zone, rack, ctsw);
    }
  }
  return text;
}

std::vector<FlowProbe> flows_of(Walker& walker) {
  GeneratedFabric drawn;
  drawn.flows = kFlows;
  return generated_flows(walker, drawn, seed());
}

std::string words_of(const HashConfig& hash) {
  return fmt::format("model {} algorithm {} seed {} offset {} fields {}", static_cast<int>(hash.model),
                     static_cast<int>(hash.algorithm), hash.seed, hash.offset, hash.fields.size());
}
// What each switch hashes by: ECMP groups, and LAGs.
std::vector<std::string> hashes_of(Walker& walker) {
  std::vector<std::string> out;
  const control::Fabric& fabric = walker.testbed().fabric;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind != NodeKind::kSwitch) continue;
    const auto& state = walker.state(n);
    out.push_back(fabric.nodes[n].name + ": " + words_of(state.hash.config()));
    if (state.lags != nullptr) out.back() += ", lags " + words_of(state.lags->hash.config());
  }
  return out;
}

// Members of LAGs that flows leave by, either way: counted on their ways, without anything that judges.
size_t members_used(Walker& walker, const std::vector<FlowProbe>& flows) {
  const control::Fabric& fabric = walker.testbed().fabric;
  std::set<std::pair<uint32_t, uint16_t>> used;
  for (const FlowProbe& flow : flows) {
    for (const analysis::Hop& hop :
         walker.walk(flow.frame, static_cast<uint32_t>(flow.frame.size()), flow.sender).hops) {
      if (fabric.lag_of({hop.node, hop.out_port}) != nullptr) used.emplace(hop.node, hop.out_port);
    }
  }
  return used.size();
}
size_t members_of(const Testbed& testbed) {
  size_t out = 0;
  for (const control::Lag& lag : testbed.fabric.lags) out += 2 * lag.links.size();
  return out;
}

void expect_that_it_cures(const std::string& text, Walker& walker, const std::vector<FlowProbe>& flows,
                          const Cure& cure) {
  const std::string piece = yaml_of(walker.testbed(), cure.changes);
  SCOPED_TRACE(cure.name + ": " + analysis::words_of(cure.changes) + "\n" + piece);
  const Testbed cured = parsed(merged(text, piece));
  Walker applied = walker_of(cured);
  Walker tried = analysis::changed_by(walker, cure.changes);
  EXPECT_EQ(hashes_of(applied), hashes_of(tried));
  const Polarization after = polarization_of(applied, flows);
  EXPECT_FALSE(after.is_unbalanced());
  EXPECT_EQ(after.worst(), cure.worst);
  EXPECT_EQ(members_used(applied, flows), members_of(cured));
}

struct Case {
  const char* name;
  std::string text;
  size_t used;       // members, before
  const char* cure;  // the first
};

std::string named(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class LagCures : public testing::TestWithParam<Case> {};

TEST_P(LagCures, AreOfTheHashOfLagsAndCureInTheFile) {
  const Testbed testbed = parsed(GetParam().text);
  Walker walker = walker_of(testbed);
  const auto flows = flows_of(walker);
  const Polarization found = polarization_of(walker, flows);
  ASSERT_TRUE(found.is_unbalanced());
  EXPECT_EQ(members_used(walker, flows), GetParam().used);
  for (const TierShare& tier : found.tiers)
    EXPECT_TRUE(tier.tier.is_of_lags || !tier.is_unbalanced()) << tier.tier.name;
  const auto cures = find_cures(walker, flows, found);
  ASSERT_FALSE(cures.empty());
  EXPECT_EQ(cures.front().name, GetParam().cure);
  for (const auto& [role, change] : cures.front().changes) EXPECT_TRUE(change.of_lags) << "ECMP groups are well";
  for (const Cure& cure : cures) expect_that_it_cures(GetParam().text, walker, flows, cure);
}

// One function for both choices: h mod 4 says which LAG and which of its four members, so a quarter of the ToRs'
// members is used, and of the spines' as many. With another seed of a CRC as well: it is linear.
INSTANTIATE_TEST_SUITE_P(
    OneFunction, LagCures,
    testing::Values(Case{"Crc", leaf_spine(""), 32, "offset"},
                    Case{"Xxh3", leaf_spine("profiles: {default: {hash: {algorithm: XXH3}}}\n"), 32, "seed"},
                    Case{"CrcOfAnotherSeed",
                         leaf_spine("profiles: {default: {hash: {seed: 5}, lag_hash: {seed: 3}}}\n"), 32, "offset"},
                    Case{"Rtag7", leaf_spine("profiles: {default: {hash: {model: RTAG7, algorithm: CRC_CCITT}}}\n"), 32,
                         "offset"}),
    named);

// The ToRs' LAGs are well, and the spines' hash as the ToRs' do: who shares a member on the way up shares one on the
// way down. All members are used as by chance, so no link is loaded more than another, and there is nothing to cure.
class DependentLags : public testing::TestWithParam<const char*> {};

TEST_P(DependentLags, AreToldAndNotCuredWhereNoLinkIsUneven) {
  const Testbed testbed = parsed(leaf_spine(GetParam()));
  Walker walker = walker_of(testbed);
  const auto flows = flows_of(walker);
  const Polarization found = polarization_of(walker, flows);
  EXPECT_FALSE(found.is_unbalanced());
  EXPECT_EQ(members_used(walker, flows), members_of(testbed));
  EXPECT_TRUE(std::ranges::any_of(found.tiers, [](const TierShare& tier) {
    return tier.tier.is_of_lags && tier.verdict == analysis::TierVerdict::kDependent;
  }));
}

INSTANTIATE_TEST_SUITE_P(
    OfOneFunction, DependentLags,
    testing::Values("profiles: {default: {hash: {algorithm: XXH3}, lag_hash: {seed: 3}}}\n",
                    "profiles: {default: {hash: {algorithm: XXH3}, lag_hash: {algorithm: CRC_CCITT}}}\n"));

// ECMP groups of three tiers that hash alike are cured, and LAGs that hash by another function keep to it.
TEST(CuresOfEcmpGroups, LeaveLagsThatAreWellAsTheyAre) {
  const std::string text = zones(
      "profiles:\n  default: {lag_hash: {algorithm: XXH3, seed: 3}}\n  agg: {base: default, lag_hash: {seed: "
      "4}}\nroles: "
      "{aggregation: agg}\n");
  const Testbed testbed = parsed(text);
  Walker walker = walker_of(testbed);
  const auto flows = flows_of(walker);
  const Polarization found = polarization_of(walker, flows);
  for (const TierShare& tier : found.tiers)
    EXPECT_FALSE(tier.tier.is_of_lags && tier.is_unbalanced()) << tier.tier.name;
  const auto cures = find_cures(walker, flows, found);
  ASSERT_FALSE(cures.empty());
  for (const auto& [role, change] : cures.front().changes) EXPECT_FALSE(change.of_lags);
  for (const Cure& cure : cures) expect_that_it_cures(text, walker, flows, cure);
}

// Whatever is changed, in a profile of the file's own with an heir, in one of two roles, and in none: each switch
// hashes as it was tried.
TEST(CuresInTheFile, AreWhatWasTried) {
  const std::vector<std::string> profiles{
      "", "profiles:\n  default: {lag_hash: {seed: 3}}\n",
      "profiles:\n  t: {hash: {seed: 1}, lag_hash: {seed: 3}}\n  s: {base: t, hash: {offset: 5}}\nroles: {tor: t, "
      "aggregation: s}\n",
      "profiles:\n  t: {lag_hash: {model: LINUX, policy: 1, seed: 3}}\n  s: {base: t, lag_hash: {seed: 4}}\nroles: "
      "{tor: "
      "t, aggregation: s}\n"};
  const std::vector<HashChange> changes{{.seed = 10},
                                        {.offset = 12},
                                        {.seed = 25, .offset = 7},
                                        {.algorithm = dataplane::HashAlgorithm::kCrcCcitt, .offset = 0}};
  for (const std::string& of : profiles) {
    const std::string text = leaf_spine(of);
    const Testbed testbed = parsed(text);
    Walker walker = walker_of(testbed);
    for (const HashChange& change : changes) {
      const HashChange of_lags{.seed = 42, .of_lags = true};
      for (const RoleChanges& all : {RoleChanges{{Role::kTor, change}}, RoleChanges{{Role::kAggregation, change}},
                                     RoleChanges{{Role::kTor, change}, {Role::kTor, of_lags}}}) {
        const std::string piece = yaml_of(testbed, all);
        const Testbed cured = parsed(merged(text, piece));
        Walker applied = walker_of(cured);
        Walker tried = analysis::changed_by(walker, all);
        EXPECT_EQ(hashes_of(applied), hashes_of(tried)) << of << analysis::words_of(all) << "\n" << piece;
      }
    }
  }
}

}  // namespace
}  // namespace softspine::tests
