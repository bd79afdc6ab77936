// SPDX-License-Identifier: Apache-2.0
// Verdicts on flows that were chosen by the links they take, so that how uneven these are, and how much one choice
// tells of another, is known beforehand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "analysis/explain/polarization.hpp"
#include "analysis/explain/polarization_report.hpp"
#include "analysis/explain/probe.hpp"
#include "control/load/load.hpp"

namespace softspine::analysis {
namespace {

using testing::HasSubstr;

control::Testbed fabric_of(const std::string& fabric, const std::string& profiles) {
  const auto testbed = control::parse_testbed(
      "name: t\nfabric: {" + fabric + ", host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n" + profiles,
      "test.yaml");
  if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
  return *testbed;
}

// Every pair of hosts by so many source ports, all different. `wanted(choices, flow)` says which of them are there.
class ChosenFlows {
 public:
  explicit ChosenFlows(const control::Testbed& testbed)
      : testbed_(testbed), walker_(testbed_, std::vector<bool>(testbed_.fabric.links.size(), true)) {
    for (uint32_t n = 0; n < testbed_.fabric.nodes.size(); ++n) {
      if (testbed_.fabric.nodes[n].kind == control::NodeKind::kHost) hosts_.push_back(n);
    }
  }
  template <typename Wanted>
  Polarization judged(uint32_t ports, Wanted&& wanted, uint32_t step = 1) {
    std::vector<FlowProbe> all;
    for (uint32_t i = 0; i < ports; ++i) {
      for (const uint32_t from : hosts_) {
        for (const uint32_t to : hosts_) {
          if (from != to) all.push_back(flow(from, to, static_cast<uint16_t>(16'384 + i * step)));
        }
      }
    }
    const FlowChoices choices = choices_of(walker_, all);
    std::vector<FlowProbe> chosen;
    for (uint64_t i = 0; i < all.size(); ++i) {
      if (wanted(choices, choices.of(i))) chosen.push_back(std::move(all[i]));
    }
    return polarization_of(walker_, chosen);
  }
  std::string text_of(const Polarization& found) const { return polarization_text(testbed_, found); }
  const control::Fabric& fabric() const { return testbed_.fabric; }

 private:
  FlowProbe flow(uint32_t from, uint32_t to, uint16_t port) {
    const Probe probe{.from = from, .to = to, .source_port = port};
    return {frame_of(testbed_.fabric, probe, walker_.router_mac(testbed_.fabric.peer_of({from, 0}).node)), {from, 0}};
  }

  control::Testbed testbed_;
  Walker walker_;
  std::vector<uint32_t> hosts_;
};

// Takes of each thousand flows with these choices so many, evenly.
class Thinned {
 public:
  bool takes(uint32_t of_thousand) {
    sum_ += of_thousand;
    if (sum_ < 1'000) return false;
    sum_ -= 1'000;
    return true;
  }

 private:
  uint32_t sum_ = 0;
};

// Four links, of which two have 1 + d of their share and two 1 − d: deviation² is d². A tenth is the limit.
class Uneven : public testing::Test {
 protected:
  static constexpr const char* kLeafSpine = "kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 2";

  static TierShare with_deviation(const std::string& profiles, uint32_t of_thousand, std::string* text = nullptr) {
    ChosenFlows flows{fabric_of(kLeafSpine, profiles)};
    std::array<Thinned, 4> thinned;
    const Polarization found = flows.judged(4'000, [&](const FlowChoices&, std::span<const MetChoice> met) {
      if (met.empty()) return false;
      const uint32_t link = met[0].link;
      return thinned[link].takes(link % 2 == 0 ? 1'000 : 1'000 * (1'000 - of_thousand) / (1'000 + of_thousand));
    });
    if (text != nullptr) *text = flows.text_of(found);
    EXPECT_EQ(found.tiers.size(), 1u);
    return found.tiers.at(0);
  }
};

TEST_F(Uneven, LinksAreNotCalledSoBelowATenth) {
  const TierShare below = with_deviation("", 70);
  EXPECT_NEAR(below.evenness.deviation2, 0, 1e-9) << "no two flows have one key: their keys tell";
  EXPECT_NEAR(below.by_flows.max_over_mean, 1.07, 0.005);
  EXPECT_EQ(below.verdict, TierVerdict::kAsChance);
  EXPECT_EQ(with_deviation("", 130).verdict, TierVerdict::kUneven);
}

// The hull of these keys is all keys of 12 bits of a port and the bits by which hosts differ: any hash spreads it.
TEST_F(Uneven, LinksOfRegularKeysAreBlamedOnTheKeys) {
  std::string text;
  const TierShare linear = with_deviation("", 300, &text);
  ASSERT_TRUE(linear.cause);
  EXPECT_EQ(linear.cause->kind, CauseKind::kKeyPattern);
  EXPECT_THAT(text,
              HasSubstr("UNEVEN: tor up:\n  CRC(seed 0, offset 0) would spread other keys: these are regular, and "
                        "a linear hash keeps that\n"));
  const TierShare mixing = with_deviation("profiles: {default: {hash: {algorithm: XXH3}}}\n", 300, &text);
  EXPECT_EQ(mixing.cause->kind, CauseKind::kKeyPattern);
  EXPECT_THAT(text, HasSubstr("XXH3(seed 0, offset 0) would spread other keys: these are regular, and there are few"));
}

// Source ports in steps of four, by whose XOR one of four links is chosen: 2^10 ports are ten bits, and none of them is
// one of the two that choose.
TEST_F(Uneven, LinksOfKeysWithTooFewBitsAreBlamedOnThese) {
  ChosenFlows flows{
      fabric_of(kLeafSpine, "profiles: {default: {hash: {algorithm: XOR, seed: 3, fields: [L4_SRC_PORT]}}}\n")};
  const auto all = [](const FlowChoices&, std::span<const MetChoice> met) { return !met.empty(); };
  const Polarization found = flows.judged(1'024, all, 4);
  EXPECT_EQ(found.tiers.at(0).verdict, TierVerdict::kUneven);
  EXPECT_EQ(found.tiers[0].idle, 6u) << "three of four at each ToR";
  ASSERT_TRUE(found.tiers[0].cause);
  EXPECT_EQ(found.tiers[0].cause->kind, CauseKind::kFewKeys);
  EXPECT_EQ(found.tiers[0].cause->text,
            "too little of the key varies: 10 independent bits, by which XOR(seed 3, offset 0) reaches 1 of 4 links");
  EXPECT_FALSE(flows.judged(1'024, all, 1).is_unbalanced()) << "consecutive ports have both";
}

// Up two tiers of two links each, whose hashes have nothing in common.
class TwoTiers : public testing::Test {
 protected:
  // Of flows that took the first (second) link up, so many of a thousand take the first one on.
  static Polarization with_first(uint32_t by_first, uint32_t by_second) {
    ChosenFlows flows{fabric_of("kind: fat-tree, k: 4, hosts_per_tor: 1",
                                "profiles: {a: {hash: {offset: 10}}}\nroles: {aggregation: a}\n")};
    std::array<Thinned, 4> thinned;
    return flows.judged(700, [&](const FlowChoices& choices, std::span<const MetChoice> met) {
      if (met.size() != 2 || choices.tiers[choices.groups[met[1].group].tier].name != "aggregation up") return false;
      const uint32_t first = met[0].link == 0 ? by_first : by_second;
      return thinned[2 * met[0].link + met[1].link].takes(met[1].link == 0 ? first : 1'000 - first);
    });
  }
};

// 0.75 and 0.45 of the two links' flows go on by the first: 0.6 ± 0.15. Pairs that shared a link share one again in
// (0.75² + 0.25² + 0.45² + 0.55²) / 2 of the cases, by chance in 0.6² + 0.4²: 1.0865 times as often.
TEST_F(TwoTiers, ThatGoTogetherALittleArePolarizedIfLinksAreUneven) {
  const Polarization found = with_first(750, 450);
  ASSERT_EQ(found.tiers.size(), 2u);
  EXPECT_EQ(found.tiers[0].verdict, TierVerdict::kAsChance);
  EXPECT_EQ(found.tiers[1].verdict, TierVerdict::kPolarized);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_TRUE(found.pairs[0].does_harm);
  EXPECT_NEAR(found.pairs[0].strength, 1.0865, 0.02);
  EXPECT_EQ(found.pairs[0].cause.kind, CauseKind::kKeyPattern);
}

// All of one link's flows go on by the first, all of the other's by the second: pairs that shared a link always share
// one again, and by chance every other pair would.
TEST_F(TwoTiers, ThatAlwaysGoTogetherDoSoTwiceAsOftenAsByChance) {
  const Polarization found = with_first(1'000, 0);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_NEAR(found.pairs[0].strength, 2, 0.05);
  EXPECT_NEAR(found.pairs[0].used, 0.5, 0.01);
}

// All flows left by the first link: nothing is left to compare with. Of four links up the second tier, which hashes as
// the first does, uses one: (4 − 1)² and three times (0 − 1)², over four, is a deviation² of 3.
TEST(Selected, FlowsThatAllTookOnePlaceAreFoundByTheirHashes) {
  ChosenFlows flows{fabric_of("kind: fat-tree, k: 8, hosts_per_tor: 1", "")};
  const Polarization found = flows.judged(20, [](const FlowChoices& choices, std::span<const MetChoice> met) {
    return met.size() == 2 && met[0].link == 0 && choices.groups[met[1].group].links.size() == 4;
  });
  ASSERT_EQ(found.tiers.size(), 2u);
  EXPECT_EQ(found.tiers[0].verdict, TierVerdict::kUneven);
  EXPECT_EQ(found.tiers[1].verdict, TierVerdict::kPolarized);
  EXPECT_EQ(found.tiers[1].by_flows.max_over_mean, 4);
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_EQ(found.pairs[0].cause.kind, CauseKind::kAlike);
  EXPECT_NEAR(found.pairs[0].strength, 4, 1e-6);
  EXPECT_NEAR(found.pairs[0].used, 0.25, 0.02);
}

// Some of 32 aggregation switches hash as the ToRs do, and an eighth of their flows are there. So few pairs are uneven
// that the tier as a whole is not: it is harm all the same, where these switches are.
class FewFlows : public testing::Test {
 protected:
  // `odd`: how many switches of the first pod.
  static std::pair<Polarization, std::string> with_odd(int odd) {
    std::string nodes;
    for (int i = 1; i <= odd; ++i)
      nodes += (i == 1 ? "" : ", ") + std::string("p1-agg") + std::to_string(i) + ": {profile: odd}";
    ChosenFlows flows{fabric_of("kind: fat-tree, k: 8, hosts_per_tor: 1",
                                "profiles: {a: {hash: {offset: 10}}, odd: {hash: {offset: 0}}}\nroles: {aggregation: "
                                "a}\ntopology: {nodes: {" +
                                    nodes + "}}\n")};
    Thinned thinned;
    const Polarization found = flows.judged(50, [&](const FlowChoices& choices, std::span<const MetChoice> met) {
      if (met.size() != 2) return false;
      const std::string& name = flows.fabric().nodes[choices.groups[met[1].group].node].name;
      const bool is_odd = name.starts_with("p1-agg") && name.back() <= '0' + odd;
      return !is_odd || thinned.takes(125);
    });
    return {found, flows.text_of(found)};
  }
  static void expect_harm(const Polarization& found, size_t groups) {
    const TierShare& up = found.tiers.at(1);
    EXPECT_EQ(up.tier.name, "aggregation up");
    EXPECT_EQ(up.verdict, TierVerdict::kPolarized);
    EXPECT_LT(up.by_flows.max_over_mean, 1.2);
    ASSERT_EQ(found.pairs.size(), 1u);
    EXPECT_TRUE(found.pairs[0].does_harm);
    EXPECT_EQ(found.pairs[0].later_groups.size(), groups);
    EXPECT_NEAR(found.pairs[0].strength, 4, 0.3) << "one of four links";
  }
};

TEST_F(FewFlows, OfOneSwitchThatHashesAsTheTierBelowAreHarmed) {
  const auto [found, text] = with_odd(1);
  expect_harm(found, 1);
  EXPECT_THAT(text, HasSubstr("POLARIZED: aggregation up by tor up, at p1-agg1: "));
}

TEST_F(FewFlows, OfAPodThatHashesAsTheTierBelowAreHarmed) {
  const auto [found, text] = with_odd(4);
  expect_harm(found, 4);
  EXPECT_THAT(text, testing::ContainsRegex("POLARIZED: aggregation up by tor up(,( at)? p1-agg[1-4]){4}: "));
  EXPECT_EQ(found.tiers[1].idle, 12u) << "three of four links at each of them";
}

}  // namespace
}  // namespace softspine::analysis
