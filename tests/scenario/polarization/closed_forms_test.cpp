// SPDX-License-Identifier: Apache-2.0
// The numbers of the two tests of `polarization`, to nine digits: moments by every throw and every deal, bounds by the
// formulas that their headers state, written down a second time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "analysis/explain/dependence.hpp"
#include "analysis/explain/evenness.hpp"
#include "analysis/explain/group_tail.hpp"
#include "analysis/explain/likelihood.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::analysis {
namespace {

using Thrown = std::vector<EvennessTest::Item>;
using Dealt = std::vector<DependenceTest::Item>;

// One group of items with their sizes.
struct Group {
  std::vector<double> weights;
  Thrown items;
};

double u_of(const Group& group) {
  double out = 0;
  for (size_t a = 0; a < group.items.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const double shared = group.items[a].link == group.items[b].link ? 1 / group.weights[group.items[a].link] : 0;
      out += group.items[a].size * group.items[b].size * (shared - 1);
    }
  }
  return out;
}
double u_of(const std::vector<Group>& groups) {
  return std::accumulate(groups.begin(), groups.end(), 0.0, [](double sum, const Group& it) { return sum + u_of(it); });
}
double pairs_of(const std::vector<Group>& groups) {
  double out = 0;
  for (const Group& group : groups) {
    for (size_t a = 0; a < group.items.size(); ++a) {
      for (size_t b = 0; b < a; ++b) out += group.items[a].size * group.items[b].size;
    }
  }
  return out;
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double third = 0;
};

// Every way to throw the items, those of one draw to one link.
Moments thrown(std::vector<Group> groups) {
  std::map<uint64_t, std::vector<std::pair<size_t, size_t>>> draws;
  uint64_t own = uint64_t{1} << 32;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t i = 0; i < groups[g].items.size(); ++i) {
      const uint64_t draw = groups[g].items[i].draw;
      draws[draw == 0 ? own++ : draw].emplace_back(g, i);
    }
  }
  std::vector<std::vector<std::pair<size_t, size_t>>> places;
  for (const auto& [draw, items] : draws) places.push_back(items);
  Moments out;
  const std::function<void(size_t, double)> from = [&](size_t next, double chance) {
    if (next == places.size()) {
      const double u = u_of(groups);
      out.mean += chance * u;
      out.variance += chance * u * u;
      out.third += chance * u * u * u;
      return;
    }
    const std::vector<double>& weights = groups[places[next].front().first].weights;
    for (uint32_t link = 0; link < weights.size(); ++link) {
      for (const auto& [g, i] : places[next]) groups[g].items[i].link = link;
      from(next + 1, chance * weights[link]);
    }
  };
  from(0, 1);
  return out;
}

EvennessTest tested(const std::vector<Group>& groups) {
  EvennessTest out;
  for (const Group& group : groups) out.add(group.weights, group.items);
  return out;
}

TEST(EvennessMoments, AreThoseOfEveryThrow) {
  const std::vector<double> uneven{0.5, 0.25, 0.25};
  const std::vector<double> even{0.5, 0.5};
  const std::vector<std::vector<Group>> all{
      {{even, {{0}, {0}}}},
      {{uneven, {{1, 3}, {1, 1}, {1, 1}, {1, 2}, {0, 1}}}},
      {{uneven, {{0, 1}, {0, 2}, {1, 5}}}, {even, {{0, 1}, {1, 4}, {1, 1}}}},
      {{even, {{0}, {1}}}, {{0.25, 0.25, 0.25, 0.25}, {{3, 1}, {3, 2}, {3, 3}, {1, 1}}}}};
  for (const std::vector<Group>& groups : all) {
    const Moments of = thrown(groups);
    const EvennessTest test = tested(groups);
    EXPECT_NEAR(of.mean, 0, 1e-9);
    EXPECT_NEAR(test.variance(), of.variance, 1e-9 * of.variance);
    const double u = u_of(groups);
    const double deviation = std::sqrt(of.variance);
    const double skewness = of.third / (of.variance * deviation);
    const Evenness found = test.by_curve();
    EXPECT_NEAR(found.pairs, pairs_of(groups), 1e-9);
    EXPECT_NEAR(found.deviation2, u / pairs_of(groups), 1e-9);
    EXPECT_NEAR(found.more, upper_tail(u / deviation, skewness), 1e-9);
    EXPECT_NEAR(found.less, lower_tail(u / deviation, skewness), 1e-9);
    EXPECT_NEAR(test.by_curve(0).more, upper_tail(std::min(u, 0.0) / deviation, skewness), 1e-9) << "of U up to 0";
    EXPECT_NEAR(test.by_curve(0).deviation2, std::min(u, 0.0) / pairs_of(groups), 1e-9);
  }
}

// Draw 1 comes to three groups, draw 2 to two, draw 3 to one; four items have draws of their own.
TEST(EvennessMoments, OfDrawsInCommonAreThoseOfEveryThrow) {
  const std::vector<double> weights{0.5, 0.25, 0.25};
  const std::vector<Group> groups{{weights, {{0, 2, 1}, {1, 1, 2}, {1, 3, 3}, {0, 1, 0}}},
                                  {weights, {{0, 1, 1}, {1, 2, 2}, {2, 1, 0}}},
                                  {weights, {{0, 3, 1}, {1, 1, 0}, {1, 1, 0}}}};
  const Moments of = thrown(groups);
  const EvennessTest test = tested(groups);
  EXPECT_NEAR(test.variance(), of.variance, 1e-9 * of.variance);
  std::vector<Group> apart = groups;
  for (Group& group : apart) {
    for (EvennessTest::Item& item : group.items) item.draw = 0;
  }
  const double alone = thrown(apart).variance;
  EXPECT_GT(of.variance, 1.05 * alone) << "what is in common counts again";
  EXPECT_NEAR(tested(apart).variance(), alone, 1e-9 * alone);
  // Of three links pairs meet one time in three; the same luck in several groups is worth fewer pairs.
  double products2 = 0;
  for (const Group& group : groups) {
    for (size_t a = 0; a < group.items.size(); ++a) {
      for (size_t b = 0; b < a; ++b) products2 += std::pow(group.items[a].size * group.items[b].size, 2);
    }
  }
  const double independent = std::pow(pairs_of(groups), 2) / (3 * products2);
  EXPECT_NEAR(tested(apart).expected_pairs(), independent, 1e-9);
  EXPECT_NEAR(test.expected_pairs(), independent * alone / of.variance, 1e-9);
}

TEST(EvennessMoments, PearsonsChiSquareIsRelativeToWhatAnIdealHashHas) {
  const Group one{{0.5, 0.25, 0.25}, {{0}, {0}, {1}, {2}, {2}, {2}, {0}, {0}}};
  const Group other{{0.25, 0.25, 0.25, 0.25}, {{3}, {3}, {1}, {3}}};
  const auto pearson = [](const Group& group) {
    std::vector<double> counts(group.weights.size(), 0);
    for (const EvennessTest::Item& item : group.items) counts[item.link] += 1;
    const auto all = static_cast<double>(group.items.size());
    double out = 0;
    for (size_t i = 0; i < counts.size(); ++i)
      out += std::pow(counts[i] - all * group.weights[i], 2) / (all * group.weights[i]);
    return out;
  };
  EXPECT_NEAR(tested({one}).by_curve().relative, pearson(one) / 2, 1e-9);
  EXPECT_NEAR(tested({other}).by_curve().relative, pearson(other) / 3, 1e-9);
  // Of two groups: each as many times as it has items.
  EXPECT_NEAR(tested({one, other}).by_curve().relative, (8 * pearson(one) + 4 * pearson(other)) / (8 * 2 + 4 * 3),
              1e-9);
}

TEST(EvennessMoments, OfGroupsWithNothingToChooseAreNone) {
  EvennessTest test;
  test.add(std::vector<double>{1}, Thrown(5));
  test.add(std::vector<double>{0.5, 0.5}, Thrown(1));
  EXPECT_EQ(test.variance(), 0);
  EXPECT_EQ(test.result(1e-3).pairs, 0);
  EXPECT_EQ(test.result(1e-3).more, 1);
}

// Five keys on one of eight links at two switches of one function: chance does that once in 8^4. Of two functions it is
// 8^8, which no trial reaches.
TEST(EvennessTrials, ThrowWhatIsOneDrawOnce) {
  const std::vector<double> weights(8, 1.0 / 8);
  const auto likely = [&](uint64_t second) {
    Group one{weights, {}};
    Group other{weights, {}};
    for (uint64_t key = 1; key <= 5; ++key) {
      one.items.push_back({3, 1, key});
      other.items.push_back({3, 1, second + key});
    }
    return tested({one, other}).result(1e-5).more;
  };
  EXPECT_NEAR(likely(0), std::pow(8, -4), 0.4 * std::pow(8, -4));
  EXPECT_NEAR(likely(100), 1.0 / 200'001, 1e-7) << "one more than none, of so many";
}

TEST(EvennessTrials, TellHowLikelyAnEvenSpreadIs) {
  // Six items over six links, one on each: 6! / 6^6 = 0.0154.
  Group group{std::vector<double>(6, 1.0 / 6), {}};
  for (uint32_t i = 0; i < 6; ++i) group.items.push_back({i});
  EXPECT_NEAR(tested({group}).result(1e-4).less, 720 / std::pow(6, 6), 0.3 * 720 / std::pow(6, 6));
}

// S of every deal of the columns over the rows.
Moments every_deal(const Dealt& items) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  Moments out;
  double all = 0;
  do {
    double shared = 0;
    for (size_t a = 0; a < items.size(); ++a) {
      for (size_t b = 0; b < a; ++b)
        shared += items[a].row == items[b].row && items[order[a]].column == items[order[b]].column ? 1 : 0;
    }
    out.mean += shared;
    out.variance += shared * shared;
    all += 1;
  } while (std::ranges::next_permutation(order).found);
  out.mean /= all;
  out.variance = out.variance / all - out.mean * out.mean;
  return out;
}
double shared_of(const Dealt& items) {
  double out = 0;
  for (size_t a = 0; a < items.size(); ++a) {
    for (size_t b = 0; b < a; ++b) out += items[a].row == items[b].row && items[a].column == items[b].column ? 1 : 0;
  }
  return out;
}

TEST(DependenceMoments, AreThoseOfEveryDeal) {
  struct Case {
    Dealt items;
    double freedom;  // (rows − 1) (columns − 1)
  };
  const std::vector<Case> cases{{{{0, 5}, {0, 5}, {1, 9}}, 1},
                                {{{0, 0}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, {2, 0}, {2, 3}}, 4},
                                {{{4, 1}, {4, 1}, {4, 2}, {4, 2}, {7, 1}, {7, 3}, {8, 3}}, 4}};
  Dealt first;
  DependenceTest both;
  double mean = 0;
  double variance = 0;
  double freedom = 0;
  double shared = 0;
  for (const Case& it : cases) {
    const Moments of = every_deal(it.items);
    Dealt items = it.items;
    DependenceTest test;
    test.add(items);
    items = it.items;
    both.add(items);
    mean += of.mean;
    variance += of.variance;
    freedom += it.freedom;
    shared += shared_of(it.items);
    const Dependence found = test.by_curve();
    EXPECT_EQ(found.shared, shared_of(it.items));
    EXPECT_NEAR(found.expected, of.mean, 1e-9);
    EXPECT_NEAR(found.strength(), found.shared / of.mean, 1e-9);
    const double skewness = std::max(1 / std::sqrt(of.mean), std::sqrt(8 / it.freedom));
    EXPECT_NEAR(found.likely, upper_tail((found.shared - of.mean) / std::sqrt(of.variance), skewness), 1e-9);
  }
  const double skewness = std::max(1 / std::sqrt(mean), std::sqrt(8 / freedom));
  const Dependence found = both.by_curve();
  EXPECT_EQ(found.shared, shared);
  EXPECT_NEAR(found.expected, mean, 1e-9) << "of strata that have nothing to do with each other";
  EXPECT_NEAR(found.likely, upper_tail((shared - mean) / std::sqrt(variance), skewness), 1e-9);
}

TEST(DependenceMoments, OfWhatSaysNothingAreNone) {
  for (Dealt items : {Dealt{{0, 0}}, Dealt{{0, 0}, {0, 1}, {0, 1}}, Dealt{{0, 1}, {1, 1}, {1, 1}},
                      Dealt{{0, 0}, {1, 0}, {2, 1}}, Dealt{{0, 0}, {0, 1}, {1, 2}}}) {
    DependenceTest test;
    test.add(items);
    EXPECT_EQ(test.by_curve().expected, 0);
    EXPECT_EQ(test.result(1e-3).likely, 1);
    EXPECT_EQ(test.result(1e-3).strength(), 1);
  }
}

// Mean k, variance 2 k, skewness √(8 / k); the tail of an even number of degrees is e^(−x / 2) Σ (x / 2)^i / i!.
TEST(Tail, IsThatOfChiSquareWithManyDegreesOfFreedom) {
  for (const uint32_t degrees : {4u, 10u, 40u}) {
    const double k = degrees;
    for (const double deviations : {-1.5, 0.0, 2.0, 4.0}) {
      const double x = k + deviations * std::sqrt(2 * k);
      double exact = 0;
      double term = std::exp(-x / 2);
      for (uint32_t i = 0; i < degrees / 2; term *= x / 2 / ++i) exact += term;
      if (x <= 0) exact = 1;
      EXPECT_NEAR(upper_tail(deviations, std::sqrt(8 / k)), exact, 0.06 * exact) << degrees << " " << deviations;
      EXPECT_NEAR(lower_tail(deviations, std::sqrt(8 / k)), 1 - exact, 0.06 * (1 - exact))
          << degrees << " " << deviations;
    }
  }
}

TEST(Tail, IsAllOrNothingBeyondTheEndOfTheSupport) {
  EXPECT_EQ(upper_tail(-10, 1), 1);
  EXPECT_EQ(upper_tail(10, -1), 0);
}

TEST(Tail, OfTrialsIsCountedUntilTwentyHaveReached) {
  uint32_t trial = 0;
  EXPECT_EQ(tried_tail(1e-3, [&] { return ++trial % 10 == 0; }), 0.1);
  EXPECT_EQ(trial, 200u);
  trial = 0;
  EXPECT_EQ(tried_tail(0x1p-10, [&] { return ++trial, false; }), 1.0 / 2'049) << "one more than none";
  EXPECT_EQ(trial, 2'048u) << "two for each of the finest";
  trial = 0;
  EXPECT_EQ(tried_tail(0x1p-10, [&] { return ++trial <= 19; }), 20.0 / 2'049);
}

TEST(Tail, IsTriedWhereFewPairsMeetAndItMatters) {
  EXPECT_TRUE(needs_trials(3, 0.02, 29.9));
  EXPECT_FALSE(needs_trials(3, 0.02, 30)) << "many pairs";
  EXPECT_FALSE(needs_trials(3, 0.021, 5)) << "no matter";
  EXPECT_FALSE(needs_trials(12, 1e-9, 1)) << "beyond doubt";
  EXPECT_TRUE(needs_trials(11.9, 1e-9, 1));
  EXPECT_TRUE(needs_trials(12, 1e-9, 0.9)) << "of less than one pair nothing is";
}

double binomial(double n, double k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
}

// The three bounds of group_tail.hpp, of one group of items of size 1.
double bound_of(const Group& group) {
  const auto n = static_cast<double>(group.items.size());
  const auto m = static_cast<double>(group.weights.size());
  std::vector<double> counts(group.weights.size(), 0);
  for (const EvennessTest::Item& item : group.items) counts[item.link] += 1;
  double out = 1;
  uint32_t idle = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double p = counts[i] / n;
    const double w = group.weights[i];
    idle += counts[i] == 0 ? 1 : 0;
    if (p <= w) continue;
    const double others = p < 1 ? (1 - p) * std::log((1 - p) / (1 - w)) : 0;
    out = std::min(out, m * std::exp(-n * (p * std::log(p / w) + others)));
  }
  std::vector<double> smallest = group.weights;
  std::ranges::sort(smallest);
  const double without = std::accumulate(smallest.begin(), smallest.begin() + idle, 0.0);
  if (idle > 0) out = std::min(out, binomial(m, idle) * std::pow(1 - without, n));
  if (n * (n - 1) / 2 / m >= 30) out = std::min(out, tested({group}).by_curve().more);
  return std::min(1.0, 3 * out);
}

// Every throw of so many items: by how many each link has, and how likely that is.
void each_throw(const Group& group, const std::function<void(const Group&, double)>& visit) {
  Group thrown{group.weights, {}};
  const std::function<void(uint32_t, double, double)> from = [&](uint32_t link, double ways, double chance) {
    const size_t left = group.items.size() - thrown.items.size();
    if (link + 1 == group.weights.size()) {
      const size_t before = thrown.items.size();
      thrown.items.resize(group.items.size(), {link});
      visit(thrown, ways * chance * std::pow(group.weights[link], left));
      thrown.items.resize(before);
      return;
    }
    for (size_t here = 0; here <= left; ++here) {
      const size_t before = thrown.items.size();
      thrown.items.resize(before + here, {link});
      from(link + 1, ways * binomial(static_cast<double>(left), static_cast<double>(here)),
           chance * std::pow(group.weights[link], here));
      thrown.items.resize(before);
    }
  };
  from(0, 1, 1);
}

Group drawn_group(std::mt19937_64& chance, uint32_t most_links, uint32_t most_items) {
  Group out;
  const auto links = static_cast<uint32_t>(2 + chance() % (most_links - 1));
  out.weights.assign(links, 1.0 / links);
  if (chance() % 2 == 0) {  // shares as buckets give them
    double all = 0;
    for (double& weight : out.weights) all += weight = static_cast<double>(1 + chance() % 3);
    for (double& weight : out.weights) weight /= all;
  }
  out.items.resize(2 + chance() % (most_items - 1));
  const uint64_t used = 1 + chance() % links;
  for (EvennessTest::Item& item : out.items) item.link = static_cast<uint32_t>(chance() % used);
  return out;
}

TEST(GroupTail, IsTheSmallestOfItsThreeBoundsThreeTimes) {
  std::mt19937_64 chance{tests::seed()};
  uint32_t small = 0;
  uint32_t by_curve = 0;
  for (uint32_t round = 0; round < 2'000; ++round) {
    const Group group = drawn_group(chance, 16, 60);
    const GroupTail found = group_tail(group.weights, group.items);
    const double bound = bound_of(group);
    ASSERT_NEAR(found.likely, bound, 1e-9 * bound) << round;
    ASSERT_NEAR(found.deviation2, u_of(group) / pairs_of({group}), 1e-9) << round;
    small += bound < 1e-3 ? 1 : 0;
    const auto n = static_cast<double>(group.items.size());
    by_curve += n * (n - 1) / 2 / static_cast<double>(group.weights.size()) >= 30 ? 1 : 0;
  }
  EXPECT_GT(small, 500u) << "groups of some links of many";
  EXPECT_GT(by_curve, 200u);
}

// Chance makes a group as unlikely as this no more often than is said.
TEST(GroupTail, IsABoundOfChance) {
  std::mt19937_64 chance{tests::seed()};
  for (uint32_t round = 0; round < 30; ++round) {
    const Group group = drawn_group(chance, 4, 12);
    const double likely = group_tail(group.weights, group.items).likely;
    double exact = 0;
    double all = 0;
    each_throw(group, [&](const Group& thrown, double how_likely) {
      all += how_likely;
      if (group_tail(thrown.weights, thrown.items).likely <= likely * (1 + 1e-9)) exact += how_likely;
    });
    EXPECT_NEAR(all, 1, 1e-9);
    EXPECT_GE(likely, exact * (1 - 1e-9)) << round;
  }
}

TEST(GroupTail, OfNothingToChooseIsCertain) {
  EXPECT_EQ(group_tail(std::vector<double>{1}, Thrown(9)).likely, 1);
  EXPECT_EQ(group_tail(std::vector<double>{0.5, 0.5}, Thrown(1)).likely, 1);
}

}  // namespace
}  // namespace softspine::analysis
