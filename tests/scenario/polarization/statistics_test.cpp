// SPDX-License-Identifier: Apache-2.0
// The statistics of `polarization` against what they must be by definition: moments by enumeration of every throw and
// of every deal, tails of known distributions, ranks by counting what can be reached.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "analysis/explain/dependence.hpp"
#include "analysis/explain/evenness.hpp"
#include "analysis/explain/group_tail.hpp"
#include "analysis/explain/key_hull.hpp"
#include "analysis/explain/likelihood.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::analysis {
namespace {

using Items = std::vector<EvennessTest::Item>;

Evenness evenness_of(const std::vector<double>& weights, const Items& items, double finest = 1e-4) {
  EvennessTest test;
  test.add(weights, items);
  return test.result(finest);
}

TEST(Likelihood, IsTheTailOfChiSquare) {
  // With two degrees of freedom the tail is exp(−x / 2): mean 2, deviation 2, skewness 2.
  for (const double x : {4.0, 9.2, 13.8, 18.4}) {
    const double tail = upper_tail((x - 2) / 2, 2);
    EXPECT_NEAR(std::log(tail), -x / 2, 0.05 * x / 2) << x;
  }
  EXPECT_NEAR(upper_tail(1.6449, 0), 0.05, 1e-4);
  EXPECT_NEAR(lower_tail(-1.6449, 0), 0.05, 1e-4);
}

// The chance of all three of three flows on one of 64 links is 1 / 4096: no curve knows it.
TEST(Evenness, OfFewFlowsIsTriedByChance) {
  const std::vector<double> weights(64, 1.0 / 64);
  const double likely = evenness_of(weights, {{5, 1}, {5, 1}, {5, 1}}, 1e-6).more;
  EXPECT_NEAR(likely, 1.0 / 4'096, 0.5 / 4'096);
}

TEST(Evenness, OfWeightedLinksAndSizedItemsHasTheChanceThatCountingGives) {
  const std::vector<double> weights{0.5, 0.25, 0.25};
  const std::vector<double> sizes{3, 1, 1, 2, 1};
  const Items seen{{1, 3}, {1, 1}, {1, 1}, {1, 2}, {0, 1}};
  const auto statistic = [&](const std::vector<uint32_t>& links) {
    double u = 0;
    for (size_t a = 0; a < sizes.size(); ++a) {
      for (size_t b = 0; b < a; ++b)
        u += sizes[a] * sizes[b] * ((links[a] == links[b] ? 1 / weights[links[a]] : 0) - 1);
    }
    return u;
  };
  const double value = statistic({1, 1, 1, 1, 0});
  double more = 0;
  double mean = 0;
  for (uint32_t throws = 0; throws < 243; ++throws) {
    std::vector<uint32_t> links;
    double chance = 1;
    for (uint32_t i = 0, rest = throws; i < 5; ++i, rest /= 3) {
      links.push_back(rest % 3);
      chance *= weights[rest % 3];
    }
    mean += chance * statistic(links);
    if (statistic(links) >= value - 1e-9) more += chance;
  }
  EXPECT_NEAR(mean, 0, 1e-9);
  EXPECT_NEAR(evenness_of(weights, seen, 1e-5).more, more, 0.3 * more);
}

TEST(Evenness, IsUniformlyLikelyForIdealHashes) {
  std::mt19937_64 chance{tests::seed()};
  uint32_t below = 0;
  constexpr uint32_t kRounds = 2'000;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t links = 2 + static_cast<uint32_t>(chance() % 63);
    const std::vector<double> weights(links, 1.0 / links);
    EvennessTest test;
    for (uint64_t groups = 1 + chance() % 20; groups > 0; --groups) {
      Items items(2 + chance() % 200);
      for (EvennessTest::Item& item : items) item.link = static_cast<uint32_t>(chance() % links);
      test.add(weights, items);
    }
    below += test.result(1e-3).more < 0.01 ? 1 : 0;
  }
  EXPECT_GT(below, 4u);
  EXPECT_LT(below, 45u) << "twenty are expected";
}

// Ten switches with one function see some of the same forty keys: they have one draw of each.
TEST(Evenness, OfKeysThatComeToSeveralGroupsIsAsLikely) {
  std::mt19937_64 chance{tests::seed()};
  uint32_t below = 0;
  uint32_t below_by_curve = 0;
  constexpr uint32_t kRounds = 2'000;
  for (uint32_t round = 0; round < kRounds; ++round) {
    const uint32_t links = 2 + static_cast<uint32_t>(chance() % 7);
    const uint64_t keys = round % 2 == 0 ? 40 : 400;
    const std::vector<double> weights(links, 1.0 / links);
    std::vector<uint32_t> drawn(keys);
    for (uint32_t& link : drawn) link = static_cast<uint32_t>(chance() % links);
    EvennessTest test;
    for (uint32_t group = 0; group < 10; ++group) {
      Items items;
      for (size_t key = 0; key < keys; ++key) {
        if (chance() % 4 != 0) items.push_back({drawn[key], static_cast<double>(1 + chance() % 3), key + 1});
      }
      test.add(weights, items);
    }
    const double likely = test.result(1e-3).more;
    below += likely < 0.01 ? 1 : 0;
    below_by_curve += likely < 0.001 ? 1 : 0;
  }
  EXPECT_GT(below, 2u);
  EXPECT_LT(below, 45u) << "twenty are expected, or less: the curve is a bound";
  EXPECT_LT(below_by_curve, 10u) << "two are expected";
}

// The variance, by throwing.
TEST(Evenness, OfKeysThatComeToSeveralGroupsVariesAsThrowsDo) {
  std::mt19937_64 chance{tests::seed()};
  const std::vector<double> weights{0.5, 0.25, 0.25};
  constexpr uint32_t kThrows = 20'000;
  double squares = 0;
  double variance = 0;
  for (uint32_t round = 0; round < kThrows; ++round) {
    EvennessTest test;
    std::vector<uint32_t> drawn(30);
    for (uint32_t& link : drawn) link = static_cast<uint32_t>(std::max<uint64_t>(chance() % 4, 1) - 1);
    for (uint32_t group = 0; group < 4; ++group) {
      Items items;
      for (size_t key = group; key < 10 + 6 * group; ++key)
        items.push_back({drawn[key], 1 + static_cast<double>(key % 2), key + 1});
      test.add(weights, items);
    }
    const Evenness found = test.by_curve();
    const double u = found.deviation2 * found.pairs;
    squares += u * u / kThrows;
    variance = test.variance();
  }
  EXPECT_NEAR(squares / variance, 1, 0.1);
}

TEST(GroupTail, OfSixteenOnOneLinkOfEightIsThatOfCounting) {
  const std::vector<double> weights(8, 1.0 / 8);
  const Items items(16, {7, 1});
  EXPECT_NEAR(std::log(group_tail(weights, items).likely), std::log(3 * std::pow(8, -15)), 1e-6);
  EXPECT_GT(group_tail(weights, items, 0).likely, 0.4) << "of which nothing counts";
}

TEST(Evenness, OfOneLinkHasTheEffectOfAllTheOthers) {
  const std::vector<double> weights(8, 1.0 / 8);
  EXPECT_DOUBLE_EQ(evenness_of(weights, Items(100, {3, 1})).deviation2, 7);
  Items even;
  for (uint32_t i = 0; i < 800; ++i) even.push_back({i % 8, 1});
  const Evenness found = evenness_of(weights, even);
  EXPECT_LT(found.less, 1e-4);
  EXPECT_NEAR(found.relative, 0, 1e-9);
}

// Every deal of the columns, and the share of them that has as many pairs in common.
double dealt(const std::vector<DependenceTest::Item>& items) {
  const auto shared = [&](const std::vector<uint32_t>& columns) {
    uint32_t out = 0;
    for (size_t a = 0; a < items.size(); ++a) {
      for (size_t b = 0; b < a; ++b) out += items[a].row == items[b].row && columns[a] == columns[b] ? 1 : 0;
    }
    return out;
  };
  std::vector<uint32_t> columns;
  for (const auto& item : items) columns.push_back(item.column);
  const uint32_t seen = shared(columns);
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  double as_many = 0;
  double all = 0;
  do {
    std::vector<uint32_t> now;
    for (const size_t i : order) now.push_back(columns[i]);
    as_many += shared(now) >= seen ? 1 : 0;
    all += 1;
  } while (std::ranges::next_permutation(order).found);
  return as_many / all;
}

TEST(Dependence, OfFewItemsHasTheChanceThatDealingGives) {
  std::vector<DependenceTest::Item> items{{0, 0}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, {1, 1}, {2, 2}, {2, 0}};
  const double by_dealing = dealt(items);
  DependenceTest test;
  test.add(items);
  EXPECT_NEAR(test.result(1e-5).likely, by_dealing, 0.3 * by_dealing);
}

TEST(Dependence, OfTheSameChoiceIsAsStrongAsThereAreLinks) {
  std::vector<DependenceTest::Item> items;
  for (uint32_t i = 0; i < 4'000; ++i) items.push_back({i % 4, i % 4});
  DependenceTest test;
  test.add(items);
  EXPECT_NEAR(test.result(1e-5).strength(), 4, 0.02);
  EXPECT_LT(test.result(1e-5).likely, 1e-9);
}

TEST(Dependence, IsNoneWhereEachRowIsUnevenAlike) {
  std::mt19937_64 chance{tests::seed()};
  std::vector<DependenceTest::Item> items;
  for (uint32_t i = 0; i < 4'000; ++i)
    items.push_back({static_cast<uint32_t>(chance() % 4), chance() % 10 < 8 ? 0 : static_cast<uint32_t>(chance() % 4)});
  DependenceTest test;
  test.add(items);
  EXPECT_GT(test.result(1e-5).likely, 1e-4);
}

TEST(KeyHull, ReachesTwoToTheRankKeys) {
  const KeyHull hull({{1, 0}, {3, 0}, {5, 0}, {7, 0}, {1, 8}});
  EXPECT_EQ(hull.rank(), 3u) << "two bits of the first word, one of the second; 7 is the sum of the others";
  const auto keys = hull.some(100);
  EXPECT_EQ(std::set<KeyVector>(keys.begin(), keys.end()).size(), 8u);
  EXPECT_EQ(KeyHull::of_all(9, 2).rank(), 72u);
  EXPECT_EQ(rank_of({0b011, 0b101, 0b110}), 2u);
  EXPECT_EQ(rank_of({0b001, 0b010, 0b100}), 3u);
}

}  // namespace
}  // namespace softspine::analysis
