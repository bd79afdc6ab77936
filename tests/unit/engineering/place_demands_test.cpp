// SPDX-License-Identifier: Apache-2.0
// The controller's placements against all that there are, on small graphs, and its single steps against their rule.
#include "control/engineering/place_demands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

using dataplane::Rng;

// Any of `links` links of one switch, one each.
PathDemand over_any_of(uint32_t links, double bps) {
  PathDemand out{.bps = bps, .paths = {}, .current = {}};
  for (uint32_t l = 0; l < links; ++l) out.paths.push_back({.links = {{l, 1}}});
  return out;
}

double highest_of(const std::vector<PathDemand>& demands, const std::vector<double>& capacity,
                  const std::vector<uint32_t>& chosen) {
  std::vector<double> load(capacity.size());
  for (size_t d = 0; d < demands.size(); ++d) {
    for (const LinkShare& each : demands[d].paths[chosen[d]].links)
      load[each.link] += demands[d].bps * each.share / capacity[each.link];
  }
  return *std::ranges::max_element(load);
}

// Of all placements, the least load of the most loaded link.
double least_of_all(const std::vector<PathDemand>& demands, const std::vector<double>& capacity) {
  std::vector<uint32_t> chosen(demands.size());
  double least = HUGE_VAL;
  const std::function<void(size_t)> place = [&](size_t d) {
    if (d == demands.size()) {
      least = std::min(least, highest_of(demands, capacity, chosen));
      return;
    }
    for (uint32_t p = 0; p < demands[d].paths.size(); ++p) {
      chosen[d] = p;
      place(d + 1);
    }
  };
  place(0);
  return least;
}

double highest_placed(const std::vector<PathDemand>& demands, const std::vector<double>& capacity) {
  const PlacedDemands placed = place_demands(demands, capacity, 1e9, std::vector<double>(capacity.size()));
  std::vector<uint32_t> chosen;
  for (const auto& path : placed.path) chosen.push_back(path.value());
  EXPECT_NEAR(placed.highest(), highest_of(demands, capacity, chosen), 1e-9) << "the loads that it tells";
  return placed.highest();
}

TEST(PlaceDemands, AreWithinGrahamsBoundOfTheLeastOnLinksOfOneSwitch) {
  double worst = 0;
  for (uint64_t round = 0; round < 200; ++round) {
    Rng rng(tests::seed(), round);
    const auto links = static_cast<uint32_t>(2 + rng.below(3));
    const std::vector<double> capacity(links, 100e9);
    std::vector<PathDemand> demands;
    const auto count = 1 + rng.below(7);
    for (uint32_t d = 0; d < count; ++d)
      demands.push_back(over_any_of(links, 1e9 * static_cast<double>(1 + rng.below(60))));
    const double ratio = highest_placed(demands, capacity) / least_of_all(demands, capacity);
    worst = std::max(worst, ratio);
    ASSERT_LE(ratio, 4.0 / 3 - 1.0 / (3 * links) + 1e-9) << "round " << round;
  }
  EXPECT_GT(worst, 1.01) << "greedy is not optimal: the case is too easy";
}

TEST(PlaceDemands, ThatAreAlikeAreSpreadAsEvenlyAsCanBe) {
  for (uint32_t links = 2; links <= 4; ++links) {
    for (uint32_t count = 1; count <= 7; ++count) {
      const std::vector<double> capacity(links, 100e9);
      const std::vector<PathDemand> demands(count, over_any_of(links, 10e9));
      EXPECT_DOUBLE_EQ(highest_placed(demands, capacity), 0.1 * ((count + links - 1) / links));
      EXPECT_DOUBLE_EQ(highest_placed(demands, capacity), least_of_all(demands, capacity));
    }
  }
}

TEST(PlaceDemands, OverTwoTiersEveryStepTakesTheLeastLoadedOfAllPaths) {
  for (uint64_t round = 0; round < 200; ++round) {
    Rng rng(tests::seed(), round);
    constexpr uint32_t kMiddles = 3;
    constexpr uint32_t kToRs = 3;  // link from ToR t to middle m: t × 3 + m; back down: 9 + m × 3 + t
    std::vector<double> capacity;
    for (uint32_t l = 0; l < 2 * kMiddles * kToRs; ++l)
      capacity.push_back(1e9 * static_cast<double>(50 + rng.below(3) * 50));
    std::vector<PathDemand> demands;
    for (uint32_t d = 0; d < 6; ++d) {
      const auto from = static_cast<uint32_t>(rng.below(kToRs));
      const auto to = (from + 1 + static_cast<uint32_t>(rng.below(kToRs - 1))) % kToRs;
      PathDemand demand{.bps = 2e9 * static_cast<double>(1 + rng.below(20)), .paths = {}, .current = {}};
      for (uint32_t m = 0; m < kMiddles; ++m)
        demand.paths.push_back({.links = {{from * kMiddles + m, 1}, {9 + m * kToRs + to, 1}}});
      demands.push_back(std::move(demand));
    }
    const PlacedDemands placed = place_demands(demands, capacity, 1e9, std::vector<double>(capacity.size()));
    std::vector<uint32_t> order(demands.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return demands[a].bps > demands[b].bps; });
    std::vector<double> load(capacity.size());
    for (const uint32_t d : order) {
      const auto cost = [&](uint32_t path) {
        double most = 0;
        for (const LinkShare& each : demands[d].paths[path].links)
          most = std::max(most, load[each.link] + demands[d].bps / capacity[each.link]);
        return most;
      };
      ASSERT_TRUE(placed.path[d]);
      for (uint32_t p = 0; p < kMiddles; ++p) ASSERT_LE(cost(*placed.path[d]), cost(p) + 1e-12) << "round " << round;
      for (const LinkShare& each : demands[d].paths[*placed.path[d]].links)
        load[each.link] += demands[d].bps / capacity[each.link];
    }
    ASSERT_GE(placed.highest(), least_of_all(demands, capacity) - 1e-9);
  }
}

TEST(PlaceDemands, NoLinkIsFilledBeyondTheUtilisation) {
  const std::vector<double> capacity(2, 100e9);
  const std::vector<PathDemand> demands(3, over_any_of(2, 50e9));
  const PlacedDemands placed = place_demands(demands, capacity, 0.8, {0, 0});
  EXPECT_EQ(std::ranges::count_if(placed.path, [](const auto& path) { return path.has_value(); }), 2);
  EXPECT_FALSE(placed.path[2]) << "100 % of either link";
  EXPECT_DOUBLE_EQ(placed.highest(), 0.5);
  EXPECT_TRUE(place_demands(demands, capacity, 1, {0, 0}).path[2]) << "which fits exactly";
  EXPECT_TRUE(place_demands(demands, capacity, 0.991, {0, 0}).path[2]) << "but for what counters differ by";
  EXPECT_FALSE(place_demands(demands, capacity, 0.989, {0, 0}).path[2]);
}

TEST(PlaceDemands, WhatIsOnTheLinksAlreadyCounts) {
  const std::vector<double> capacity(2, 100e9);
  const std::vector<PathDemand> demands(1, over_any_of(2, 10e9));
  EXPECT_EQ(place_demands(demands, capacity, 1, {0.5, 0.2}).path[0], 1u);
}

TEST(PlaceDemands, OfPathsAboutAsGoodTheOneItHasIsKept) {
  const std::vector<double> capacity(3, 100e9);
  std::vector<PathDemand> demands(1, over_any_of(3, 10e9));
  demands[0].current = 2;
  EXPECT_EQ(place_demands(demands, capacity, 1, {0, 0, 0.009}).path[0], 2u) << "within a hundredth";
  EXPECT_EQ(place_demands(demands, capacity, 1, {0, 0, 0.02}).path[0], 0u);
}

// 10 of 100 Gb/s come to 50.5 % on the first and to more on the second, of which it may be filled to 50 % and a
// hundredth.
TEST(PlaceDemands, APathThatItHasIsNotKeptBeyondTheUtilisation) {
  const std::vector<double> capacity(2, 100e9);
  std::vector<PathDemand> demands(1, over_any_of(2, 10e9));
  demands[0].current = 1;
  EXPECT_EQ(place_demands(demands, capacity, 0.5, {0.405, 0.412}).path[0], 0u);
  EXPECT_EQ(place_demands(demands, capacity, 0.5, {0.405, 0.409}).path[0], 1u);
  demands[0].current = 0;
  EXPECT_EQ(place_demands(demands, capacity, 0.5, {0.412, 0.405}).path[0], 1u);
}

TEST(PlaceDemands, OfNothingLoadNothing) {
  const PlacedDemands none = place_demands({}, {}, 1, {});
  EXPECT_TRUE(none.path.empty());
  EXPECT_EQ(none.highest(), 0);
  const std::vector<double> capacity(2, 100e9);
  EXPECT_EQ(place_demands({}, capacity, 1, {0.3, 0.7}).highest(), 0.7) << "what was there";
  const std::vector<PathDemand> nowhere(1, PathDemand{.bps = 1e9, .paths = {}, .current = {}});
  EXPECT_FALSE(place_demands(nowhere, capacity, 1, {0, 0}).path[0]);
}

// A path's share of a link counts: half of 80 Gb/s on each of two links of 100 Gb/s, all of it on one.
TEST(PlaceDemands, LoadALinkByTheirShareOfIt) {
  const std::vector<double> capacity{100e9, 100e9, 50e9};
  PathDemand demand{.bps = 80e9, .paths = {{.links = {{2, 1}}}, {.links = {{0, 0.5}, {1, 0.5}}}}, .current = {}};
  const PlacedDemands placed = place_demands(std::vector{demand}, capacity, 1, {0, 0.1, 0});
  EXPECT_EQ(placed.path[0], 1u);
  EXPECT_DOUBLE_EQ(placed.load[0], 0.4);
  EXPECT_DOUBLE_EQ(placed.load[1], 0.5);
  EXPECT_DOUBLE_EQ(placed.load[2], 0);
}

TEST(PlaceDemands, OneThatLostItsPathTakesAFreeOneAndMovesNobody) {
  const std::vector<double> capacity(4, 100e9);
  std::vector<PathDemand> demands(4, over_any_of(4, 100e9));
  demands[0].bps = 100.2e9;  // which has no path now
  for (uint32_t d = 1; d < 4; ++d) demands[d].current = d - 1;
  const PlacedDemands placed = place_demands(demands, capacity, 1, std::vector<double>(4));
  EXPECT_EQ(placed.path[0], 3u);
  for (uint32_t d = 1; d < 4; ++d) EXPECT_EQ(placed.path[d], d - 1);
}

}  // namespace
}  // namespace softspine::control
