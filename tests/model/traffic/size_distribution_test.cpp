// SPDX-License-Identifier: Apache-2.0
// Flow sizes against a slow reference: a search from the first point on, in long double.
#include "control/traffic/size_distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace softspine::control {
namespace {

using dataplane::Rng;

long double slow_size(std::span<const SizePoint> points, uint64_t share) {
  size_t i = 1;
  while (points[i].share <= share) ++i;
  const auto at = [&](uint64_t value) { return static_cast<long double>(value); };
  const long double slope =
      (at(points[i].bytes) - at(points[i - 1].bytes)) / (at(points[i].share) - at(points[i - 1].share));
  return at(points[i - 1].bytes) + slope * (at(share) - at(points[i - 1].share));
}

SizeDistribution published(std::string_view word) {
  return published_as(word).value();
}

TEST(SizeDistribution, DrawsAsTheSlowSearchDoes) {
  for (const PublishedSizes& each : published_sizes()) {
    const SizeDistribution sizes = published(each.word);
    Rng drawn{7, 1};
    Rng same{7, 1};
    for (int i = 0; i < 100'000; ++i) {
      const long double expected = slow_size(each.points, same.below(kWholeShare));
      const uint64_t found = sizes.draw(drawn);
      ASSERT_GE(found, 1U);
      ASSERT_NEAR(static_cast<double>(found), static_cast<double>(std::max(expected, 1.0L)), 1.0) << each.word << i;
    }
  }
}

// Closed values: Σ (bytes₀ + bytes₁) / 2 · share, by hand from the published points.
TEST(SizeDistribution, MeansAreThoseOfThePublishedTables) {
  EXPECT_DOUBLE_EQ(published("websearch").mean(), 1'711'250);
  EXPECT_DOUBLE_EQ(published("hadoop").mean(), 120'420.75);
  EXPECT_DOUBLE_EQ(published("alistorage").mean(), 40'869.8);
  EXPECT_DOUBLE_EQ(published("googlerpc").mean(), 2'891.62125005);
}

TEST(SizeDistribution, DrawnMeansMeetTheClosedOnesWithinThreeStandardErrors) {
  for (const PublishedSizes& each : published_sizes()) {
    const SizeDistribution sizes = published(each.word);
    Rng rng{11, 2};
    constexpr int kDraws = 400'000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto size = static_cast<double>(sizes.draw(rng));
      sum += size;
      squares += size * size;
    }
    const double mean = sum / kDraws;
    const double error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
    EXPECT_NEAR(mean, sizes.mean(), 3 * error + 0.5) << each.word;
  }
}

TEST(SizeDistribution, ShareOfFlowsBelowEachPointIsThatOfTheTable) {
  const auto websearch = published_sizes()[0];
  const SizeDistribution sizes = published(websearch.word);
  Rng rng{3, 3};
  constexpr int kDraws = 400'000;
  std::vector<uint64_t> drawn;
  for (int i = 0; i < kDraws; ++i) drawn.push_back(sizes.draw(rng));
  for (const SizePoint& point : websearch.points) {
    const double share = static_cast<double>(point.share) / static_cast<double>(kWholeShare);
    const auto below = std::ranges::count_if(drawn, [&](uint64_t bytes) { return bytes < point.bytes; });
    const double error = std::sqrt(share * (1 - share) / kDraws);
    EXPECT_NEAR(static_cast<double>(below) / kDraws, share, 4 * error + 1e-5) << point.bytes;
  }
}

TEST(SizeDistribution, ASeedGivesTheSameSizesEverywhere) {
  const SizeDistribution sizes = published("websearch");
  Rng rng{1, 1};
  std::vector<uint64_t> drawn;
  for (int i = 0; i < 6; ++i) drawn.push_back(sizes.draw(rng));
  EXPECT_EQ(drawn, (std::vector<uint64_t>{4'499'324, 57'275, 1'762, 10'587'985, 7'089, 35'465}));
}

}  // namespace
}  // namespace softspine::control
