// SPDX-License-Identifier: Apache-2.0
// The tests of a tier on choices that were written down by hand, recounted flow by flow from what tier_tests.hpp says
// an item, a stratum and a draw are; and how many tests a fabric's false alarm is shared among.
#include "analysis/explain/tier_tests.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "analysis/explain/group_tail.hpp"
#include "analysis/explain/polarization.hpp"
#include "control/load/load.hpp"
#include "testbeds/run/workload_flows.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::analysis {
namespace {

constexpr double kFine = 1e-4;

class Choices {
 public:
  uint32_t group(uint32_t tier, uint32_t function, uint32_t shape, std::vector<double> weights) {
    LinkGroup made{.tier = tier, .shape = shape, .function = function, .links = {}, .weights = {}, .by_bucket = {}};
    made.weights = std::move(weights);
    made.links.resize(made.weights.size());
    all_.groups.push_back(std::move(made));
    return static_cast<uint32_t>(all_.groups.size()) - 1;
  }
  void flow(std::vector<MetChoice> met, uint64_t bytes = 0) {
    if (all_.begins.empty()) all_.begins.push_back(0);
    all_.met.insert(all_.met.end(), met.begin(), met.end());
    all_.begins.push_back(all_.met.size());
    all_.bytes.push_back(bytes);
  }
  void not_hashed(uint32_t group) { all_.groups[group].is_hashed = false; }
  const FlowChoices& all() const { return all_; }

 private:
  FlowChoices all_;
};

std::vector<double> even(uint32_t links) {
  return std::vector<double>(links, 1.0 / links);
}

// What tier_tests.hpp says is counted: of each group, sizes by key or by flow.
struct Counted {
  double u = 0;
  double pairs = 0;
};
struct Sized {
  uint32_t link = 0;
  double size = 0;
};
Counted counted(const FlowChoices& choices, const std::map<uint32_t, std::vector<Sized>>& by_group) {
  Counted out;
  for (const auto& [group, items] : by_group) {
    for (size_t a = 0; a < items.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        const double product = items[a].size * items[b].size;
        out.pairs += product;
        out.u -= product;
        if (items[a].link == items[b].link) out.u += product / choices.groups[group].weights[items[a].link];
      }
    }
  }
  return out;
}
// Of tier 0: one item for each key, as large as its flows or their bytes; or one for each flow.
enum class Size : uint8_t { kFlowsOfKey, kBytesOfKey, kFlow };
std::map<uint32_t, std::vector<Sized>> items_of(const FlowChoices& choices, Size size) {
  std::map<std::pair<uint32_t, uint64_t>, Sized> keys;
  std::map<uint32_t, std::vector<Sized>> out;
  for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
    for (const MetChoice& met : choices.of(flow)) {
      if (choices.groups[met.group].tier != 0 || !choices.groups[met.group].is_hashed) continue;
      if (size == Size::kFlow) out[met.group].push_back({met.link, 1});
      Sized& key = keys[{met.group, met.key}];
      key.link = met.link;
      key.size += size == Size::kBytesOfKey ? static_cast<double>(choices.bytes[flow]) : 1;
    }
  }
  if (size == Size::kFlow) return out;
  for (const auto& [name, key] : keys) out[name.first].push_back(key);
  return out;
}
// Pairs of flows that share a key share a link under every hash: 1 / w − 1 each, m − 1 on average.
double by_keys(const FlowChoices& choices) {
  std::map<std::pair<uint32_t, uint64_t>, double> flows;
  for (const MetChoice& met : choices.met) ++flows[{met.group, met.key}];
  double out = 0;
  for (const auto& [name, count] : flows)
    out += count * (count - 1) / 2 * static_cast<double>(choices.groups[name.first].weights.size() - 1);
  return out;
}

// Forty flows with eight keys at two switches of one function, ten with keys of their own at one that does not hash.
Choices drawn_choices(std::mt19937_64& chance) {
  Choices out;
  const std::vector<double> weights{0.5, 0.25, 0.25};
  const uint32_t one = out.group(0, 7, 1, weights);
  const uint32_t other = out.group(0, 7, 1, weights);
  const uint32_t odd = out.group(0, 8, 2, even(4));
  out.not_hashed(odd);
  std::vector<uint32_t> link(8);
  for (uint32_t& it : link) it = static_cast<uint32_t>(chance() % 3);
  for (uint32_t flow = 0; flow < 40; ++flow) {
    const uint64_t key = chance() % 8;
    out.flow({{chance() % 2 == 0 ? one : other, link[key], 100 + key}}, 1 + chance() % 1'000);
  }
  for (uint64_t flow = 0; flow < 10; ++flow) out.flow({{odd, 3, 500 + flow}}, 77);
  return out;
}

TEST(TierEvenness, CountsEachKeyOnceAndOfFlowsWhatTheirKeysMakeOfThem) {
  std::mt19937_64 chance{tests::seed()};
  for (int round = 0; round < 20; ++round) {
    const Choices made = drawn_choices(chance);
    const FlowChoices& choices = made.all();
    const TierEvenness found = evenness_of(choices, 0, kFine, 0.01);
    const Counted keys = counted(choices, items_of(choices, Size::kFlowsOfKey));
    EXPECT_NEAR(found.keys.pairs, keys.pairs, 1e-9);
    EXPECT_NEAR(found.keys.deviation2, keys.u / keys.pairs, 1e-9);
    const Counted bytes = counted(choices, items_of(choices, Size::kBytesOfKey));
    ASSERT_TRUE(found.has_bytes);
    EXPECT_NEAR(found.bytes.deviation2, bytes.u / bytes.pairs, 1e-9);
    const Counted flows = counted(choices, items_of(choices, Size::kFlow));
    EXPECT_NEAR(found.flows.pairs, flows.pairs, 1e-9);
    EXPECT_NEAR(found.flows.deviation2, std::min(flows.u, by_keys(choices)) / flows.pairs, 1e-9);
    std::set<uint64_t> distinct;
    for (const MetChoice& met : choices.met) {
      if (met.group < 2) distinct.insert(met.key);
    }
    EXPECT_EQ(found.distinct_keys, distinct.size());
  }
}

// A key of ten flows and two of one flow, all on one of two links: one time in four, with any number of flows.
TEST(TierEvenness, OfFlowsThatShareAKeyIsThatOfTheKey) {
  Choices made;
  const uint32_t group = made.group(0, 0, 0, even(2));
  for (uint64_t flow = 0; flow < 12; ++flow) made.flow({{group, 0, flow < 10 ? 1 : flow}});
  const TierEvenness found = evenness_of(made.all(), 0, kFine, 0.01);
  EXPECT_GT(found.keys.more, 0.05) << "flow by flow it would be 2^-11";
  EXPECT_TRUE(found.groups.empty());
  // The pairs of one key: 45 of 66, each 1.
  EXPECT_NEAR(found.flows.deviation2, 45.0 / 66, 1e-9);
}

// Two switches of one function, which one and the same key comes to: an item of each, and nothing to compare it with.
TEST(TierEvenness, OfOneKeyAtEachOfTwoSwitchesHasNoPairOfKeys) {
  Choices made;
  for (uint32_t i = 0; i < 2; ++i) made.group(0, 0, 0, even(4));
  for (uint32_t flow = 0; flow < 6; ++flow) made.flow({{flow % 2, 3, 77}});
  const TierEvenness found = evenness_of(made.all(), 0, kFine, 0.01);
  EXPECT_EQ(found.distinct_keys, 1u);
  EXPECT_EQ(found.keys.pairs, 0);
  EXPECT_EQ(found.keys.more, 1);
  EXPECT_EQ(found.flows.pairs, 6) << "three of each switch";
  EXPECT_EQ(found.flows.deviation2, 3) << "all of four links' flows on one";
}

TEST(TierEvenness, HasBytesOfFlowsThatAllHaveSomeAndNotTheSame) {
  const auto has = [](const std::vector<uint64_t>& sizes) {
    Choices made;
    const uint32_t group = made.group(0, 0, 0, even(2));
    for (uint64_t i = 0; i < sizes.size(); ++i) made.flow({{group, 0, i}}, sizes[i]);
    return evenness_of(made.all(), 0, kFine, 0.01).has_bytes;
  };
  EXPECT_TRUE(has({1, 2, 1}));
  EXPECT_FALSE(has({5, 5, 5}));
  EXPECT_FALSE(has({5, 0, 5}));
}

// Sixteen of sixteen on one link of eight: at most 3 · 8^-15 (group_tail.hpp).
const double kSixteenOfOne = 3 * std::pow(8, -15);

// A group of sixteen, two of two flows on two links, and one of one flow, at which nothing can be uneven.
Choices sixteen(bool have_one_key) {
  Choices out;
  const uint32_t all = out.group(0, 1, 1, even(8));
  for (uint64_t flow = 0; flow < 16; ++flow) out.flow({{all, 5, have_one_key ? 1 : 10 + flow}});
  for (uint32_t more = 0; more < 3; ++more) {
    const uint32_t group = out.group(0, 2 + more, 1, even(8));
    for (uint32_t flow = 0; flow < (more < 2 ? 2U : 1U); ++flow) out.flow({{group, flow, 100 * more + flow}});
  }
  return out;
}

// Two tests of each of three groups: flows, and keys.
TEST(UnevenGroups, ShareTheErrorAmongTwoTestsOfEachGroup) {
  const Choices made = sixteen(false);
  const double limit = kSixteenOfOne * 2 * 3;
  EXPECT_TRUE(evenness_of(made.all(), 0, limit * 0.999, 0.01).groups.empty());
  const auto found = evenness_of(made.all(), 0, limit * 1.001, 0.01).groups;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].group, 0u);
  EXPECT_FALSE(found[0].are_keys_spread);
  EXPECT_NEAR(found[0].deviation2, 7, 1e-9) << "all others' share";
}

TEST(UnevenGroups, SayWhereFlowsAreUnevenAndTheirKeysAreNot) {
  const auto found = evenness_of(sixteen(true).all(), 0, 1e-3, 0.01).groups;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].are_keys_spread) << "one key is spread by any hash";
  EXPECT_NEAR(found[0].deviation2, 7, 1e-9);
}

TEST(UnevenGroups, AreThoseThatDeviateByMoreThanIsOfConcern) {
  EXPECT_EQ(evenness_of(sixteen(false).all(), 0, 1e-3, 6.999).groups.size(), 1u);
  EXPECT_TRUE(evenness_of(sixteen(false).all(), 0, 1e-3, 7.001).groups.empty());
}

// Pairs that share row and column, and the mean of every deal, of strata and draws as tier_tests.hpp has them.
struct Shared {
  double shared = 0;
  double expected = 0;
};
Shared recounted(const FlowChoices& choices, SharedBy by, const std::set<FunctionPair>& only = {}) {
  using Place = std::pair<uint64_t, uint64_t>;
  using Stratum = std::tuple<Place, uint32_t, std::vector<std::pair<Place, uint32_t>>>;
  using Draw = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t>;
  const auto place_of = [&](const MetChoice& met) {
    const LinkGroup& group = choices.groups[met.group];
    return by == SharedBy::kLink ? Place{met.group, 0} : Place{group.function, 1'000 + group.shape};
  };
  std::map<Stratum, std::vector<std::pair<uint32_t, uint32_t>>> strata;
  std::set<Draw> known;
  for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
    const auto met = choices.of(flow);
    if (met.size() < 3) continue;
    const LinkGroup& one = choices.groups[met[1].group];
    const LinkGroup& other = choices.groups[met[2].group];
    if (!only.empty() && !only.contains({one.function, other.function})) continue;
    if (!known.insert({one.function, one.shape, other.function, other.shape, met[1].key, met[2].key}).second) continue;
    strata[{place_of(met[1]), other.shape, {{place_of(met[0]), met[0].link}}}].push_back({met[1].link, met[2].link});
  }
  Shared out;
  for (const auto& [name, items] : strata) {
    double rows = 0;
    double columns = 0;
    for (size_t a = 0; a < items.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        rows += items[a].first == items[b].first ? 1 : 0;
        columns += items[a].second == items[b].second ? 1 : 0;
      }
    }
    const auto n = static_cast<double>(items.size());
    const double all = n * (n - 1) / 2;
    if (rows == 0 || columns == 0 || rows == all || columns == all) continue;  // says nothing
    for (size_t a = 0; a < items.size(); ++a) {
      for (size_t b = 0; b < a; ++b) out.shared += items[a] == items[b] ? 1 : 0;
    }
    out.expected += rows * columns / all;
  }
  return out;
}

// Three tiers of two, four and four links; two switches of the second, with a function each if `functions` is 2. The
// third follows the second's link one time in `follows`. Each fifth flow has its predecessor's keys.
Choices three_tiers(std::mt19937_64& chance, uint32_t functions, uint32_t flows, uint32_t follows) {
  Choices out;
  const uint32_t first = out.group(0, 0, 0, even(2));
  std::vector<uint32_t> second;
  std::vector<uint32_t> third;
  for (uint32_t i = 0; i < 2; ++i) second.push_back(out.group(1, 10 + i % functions, 1, even(4)));
  for (uint32_t i = 0; i < 4; ++i) third.push_back(out.group(2, 20, 2, even(4)));
  std::vector<MetChoice> met;
  for (uint32_t flow = 0; flow < flows; ++flow) {
    if (flow % 5 != 4) {
      const auto up = static_cast<uint32_t>(chance() % 2);
      const auto link = static_cast<uint32_t>(chance() % 4);
      const auto next = chance() % follows == 0 ? link : static_cast<uint32_t>(chance() % 4);
      met = {{first, up, flow}, {second[up], link, flow}, {third[link], next, flow}};
    }
    out.flow(met);
  }
  return out;
}

TEST(TierDependence, SharesRowsAndColumnsWithinWhatAgreesBefore) {
  std::mt19937_64 chance{tests::seed()};
  for (const uint32_t functions : {1u, 2u}) {
    const Choices made = three_tiers(chance, functions, 300, 2);
    for (const SharedBy by : kSharings) {
      const Shared all = recounted(made.all(), by);
      const Dependence found = dependence_of(made.all(), 1, 2, by, kFine).all;
      EXPECT_EQ(found.shared, all.shared);
      EXPECT_NEAR(found.expected, all.expected, 1e-9);
      EXPECT_GT(found.strength(), 1.5) << "a half of them follows";
    }
  }
}

// Each pair of functions by itself: as likely as alone, times how many were tried.
TEST(TierDependence, OfEachPairOfFunctionsIsCorrectedForTheirNumber) {
  std::mt19937_64 chance{tests::seed() + 1};
  const Choices made = three_tiers(chance, 2, 400, 8);
  const TierDependence found = dependence_of(made.all(), 1, 2, SharedBy::kLink, kFine);
  ASSERT_EQ(found.pairs.size(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    const FunctionPair functions{10 + i, 20};
    EXPECT_EQ(found.pairs[i].functions, functions);
    const Shared one = recounted(made.all(), SharedBy::kLink, {functions});
    EXPECT_EQ(found.pairs[i].found.shared, one.shared);
    EXPECT_NEAR(found.pairs[i].found.expected, one.expected, 1e-9);
    DependenceTest test;
    std::vector<DependenceTest::Item> items;
    for (uint64_t flow = 0; flow < made.all().flows(); ++flow) {
      const auto met = made.all().of(flow);
      if (flow % 5 != 4 && made.all().groups[met[1].group].function == 10 + i)
        items.push_back({met[1].link, met[2].link});
    }
    test.add(items);
    EXPECT_GT(test.by_curve().likely, 1e-6) << "so that twice as much is another number";
    EXPECT_NEAR(found.pairs[i].found.likely / test.by_curve().likely, 2, 1e-9);
  }
}

// The same keys at two switches of one function and one shape: their second choices are one draw, and count once.
TEST(TierDependence, CountsADrawOnceThoughSeveralStrataHaveIt) {
  std::mt19937_64 chance{tests::seed() + 2};
  Choices once;
  Choices twice;
  for (Choices* made : {&once, &twice}) {
    made->group(0, 0, 0, even(2));
    made->group(1, 10, 1, even(4));
    made->group(1, 10, 1, even(4));
    made->group(2, 20, 2, even(4));
  }
  for (uint64_t key = 0; key < 60; ++key) {
    const auto link = static_cast<uint32_t>(chance() % 4);
    const auto next = static_cast<uint32_t>(chance() % 4);
    once.flow({{0, 0, key}, {1, link, key}, {3, next, key}});
    for (uint32_t up = 0; up < 2; ++up) twice.flow({{0, up, key}, {1 + up, link, key}, {3, next, key}});
  }
  const Dependence one = dependence_of(once.all(), 1, 2, SharedBy::kLink, kFine).all;
  const Dependence other = dependence_of(twice.all(), 1, 2, SharedBy::kLink, kFine).all;
  EXPECT_EQ(one.shared, recounted(once.all(), SharedBy::kLink).shared);
  EXPECT_EQ(other.shared, one.shared);
  EXPECT_NEAR(other.expected, one.expected, 1e-9);
  EXPECT_NEAR(other.likely, one.likely, 1e-12);
}

// Of flows of one earlier link: links used over 4 (1 − (3/4)^n), and 2 − (1/4)^n − (3/4)^n of two uneven ones.
TEST(UsedOfChance, IsLinksUsedOverThoseThatChanceWouldUse) {
  Choices made;
  const uint32_t first = made.group(0, 1, 0, even(2));
  const uint32_t four = made.group(1, 2, 1, even(4));
  const uint32_t two = made.group(1, 3, 2, {0.25, 0.75});
  const uint32_t one = made.group(1, 2, 1, even(4));
  for (const uint32_t link : {0u, 0u, 0u, 3u, 3u}) made.flow({{first, 0, 0}, {four, link, 0}});
  for (const uint32_t link : {1u, 1u, 1u}) made.flow({{first, 1, 0}, {two, link, 0}});
  made.flow({{first, 1, 0}, {one, 2, 0}});  // alone: it says nothing
  const double of_four = 4 * (1 - std::pow(0.75, 5));
  const double of_two = 2 - std::pow(0.25, 3) - std::pow(0.75, 3);
  EXPECT_NEAR(used_of_chance(made.all(), 0, 1, {{1, 2}}), 2 / of_four, 1e-12);
  EXPECT_NEAR(used_of_chance(made.all(), 0, 1, {{1, 3}}), 1 / of_two, 1e-12);
  EXPECT_NEAR(used_of_chance(made.all(), 0, 1, {{1, 2}, {1, 3}}), 3 / (of_four + of_two), 1e-12);
  EXPECT_EQ(used_of_chance(made.all(), 0, 1, {{3, 3}}), 1) << "no such flows";
}

// Six queue pairs of one key on sixteen links or more share one, which hardly a trial does: the probability that is
// told is 1 / (1 + trials), two trials for each of the finest.
double trials_of(const std::string& fabric, const std::string& workload) {
  const auto testbed = control::parse_testbed(
      fmt::format("name: t\nfabric: {{{}, host_link: {{rate: 100Gbps}}, fabric_link: {{rate: 100Gbps}}}}\nprofiles: "
                  "{{default: {{hash: {{fields: [DST_IP]}}}}}}\nworkload: [{{name: w, {}, qps: 6}}]\n",
                  fabric, workload),
      "test.yaml");
  if (!testbed) {
    ADD_FAILURE() << to_string(testbed.error().front());
    return 0;
  }
  Walker walker{*testbed, std::vector<bool>(testbed->fabric.links.size(), true)};
  const Polarization found = polarization_of(walker, testbeds::workload_flows(walker));
  EXPECT_EQ(found.tiers.front().keys, 1u);
  return 1 / found.tiers.front().evenness.more - 1;
}

// A tier has five tests: flows, keys, bytes, its groups, and flows again; two tiers have four: by link and by place, of
// all functions and of each pair.
TEST(FalseAlarms, OfAFabricAreSharedAmongTheTestsOfItsTiersAndTheirPairs) {
  EXPECT_NEAR(
      trials_of("kind: leaf-spine, tors: 2, spines: 64, hosts_per_tor: 1", "pattern: pairs, from: [h1], to: [h2]"),
      2 * 5 / kFalseAlarms, 1.5);
  EXPECT_NEAR(trials_of("kind: fat-tree, k: 32, hosts_per_tor: 1", "pattern: pairs, from: [h1], to: [h100]"),
              2 * (5 + 5 + 4) / kFalseAlarms, 1.5);
}

}  // namespace
}  // namespace softspine::analysis
