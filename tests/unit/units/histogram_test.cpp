// SPDX-License-Identifier: Apache-2.0
#include "dataplane/units/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

// The sample that `share` of them do not exceed, from the sorted samples themselves.
uint64_t sorted_quantile(const std::vector<uint64_t>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[rank == 0 ? 0 : rank - 1];
}

std::vector<uint64_t> samples(Rng& rng, size_t count) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < count; ++i) values.push_back(rng.next() >> (1 + rng.below(63)));
  return values;
}

TEST(Histogram, QuantilesAreWithinA256thOfTheSortedSamples) {
  Rng rng{tests::seed(), 1};
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> values = samples(rng, 1 + rng.below(2000));
    Histogram histogram;
    for (const uint64_t v : values) histogram.add(static_cast<int64_t>(v));
    std::sort(values.begin(), values.end());
    for (const double share : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const uint64_t exact = sorted_quantile(values, share);
      const uint64_t got = histogram.quantile(share);
      ASSERT_GE(got, exact - exact / 256) << "share " << share << " of " << values.size();
      ASSERT_LE(got, exact + exact / 256) << "share " << share << " of " << values.size();
    }
  }
}

TEST(Histogram, SmallNumbersAreExact) {
  Histogram histogram;
  for (int64_t v = 0; v < 256; ++v) histogram.add(v);
  for (int rank = 1; rank <= 256; ++rank) {
    EXPECT_EQ(histogram.quantile(rank / 256.0), static_cast<uint64_t>(rank - 1));
  }
}

// What stands between two bounds is the middle of them, so the error goes both ways and is half as wide as a bucket.
TEST(Histogram, TellsTheMiddleOfABucket) {
  Histogram histogram;
  for (const int64_t v : {1, 1'049'688, 1 << 30}) histogram.add(v);
  EXPECT_EQ(histogram.quantile(0.5), (1U << 20) + (1U << 12) - 1) << "of 2^20 to 2^20 + 2^13 − 1";
}

// Buckets count to 65,535 by themselves.
TEST(Histogram, CountsBeyondABucketsEnd) {
  Histogram histogram;
  constexpr int64_t kLow = 3 * 65'536 + 5;
  for (int64_t i = 0; i < kLow; ++i) histogram.add(1'000);
  for (int64_t i = 0; i < 65'536; ++i) histogram.add(1'000'000);
  Histogram twice = histogram;
  twice.merge(histogram);
  for (const Histogram* each : std::array<const Histogram*, 2>{&histogram, &twice}) {
    const auto all = static_cast<double>(each->count());
    const auto low = static_cast<double>(kLow) / static_cast<double>(kLow + 65'536) * all;
    EXPECT_NEAR(static_cast<double>(each->quantile(low / all)), 1'000, 4);
    EXPECT_NEAR(static_cast<double>(each->quantile((low + 1) / all)), 1'000'000, 4'000);
    EXPECT_NEAR(static_cast<double>(each->quantile((all - 1) / all)), 1'000'000, 4'000);
  }
  EXPECT_EQ(twice.count(), 2 * histogram.count());
}

TEST(Histogram, ExtremesAndMeanAreExact) {
  Histogram histogram;
  for (const int64_t v : {1'000'003, 7, 123'456'789}) histogram.add(v);
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.min(), 7U);
  EXPECT_EQ(histogram.max(), 123'456'789U);
  EXPECT_DOUBLE_EQ(histogram.mean(), (1'000'003.0 + 7 + 123'456'789) / 3);
  EXPECT_EQ(histogram.quantile(1.0), 123'456'789U);
}

TEST(Histogram, TakesTheLargestAndTheNegative) {
  Histogram histogram;
  histogram.add(std::numeric_limits<int64_t>::max());
  histogram.add(std::numeric_limits<int64_t>::min());
  histogram.add(-1);
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  EXPECT_EQ(histogram.quantile(1.0), histogram.max());
}

TEST(Histogram, AnEmptyOneAnswersZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.quantile(0.99), 0U);
  EXPECT_EQ(histogram.mean(), 0.0);
}

TEST(Histogram, MergingIsAddingAllSamples) {
  Rng rng{tests::seed(), 2};
  const std::vector<uint64_t> left = samples(rng, 500);
  const std::vector<uint64_t> right = samples(rng, 300);
  Histogram a;
  Histogram b;
  Histogram both;
  for (const uint64_t v : left) a.add(static_cast<int64_t>(v));
  for (const uint64_t v : right) b.add(static_cast<int64_t>(v));
  for (const auto* part : {&left, &right}) {
    for (const uint64_t v : *part) both.add(static_cast<int64_t>(v));
  }
  Histogram merged;
  merged.merge(a);  // into an empty one: its minimum must not stay 0
  merged.merge(Histogram{});
  merged.merge(b);
  EXPECT_EQ(merged.count(), both.count());
  EXPECT_EQ(merged.min(), both.min());
  EXPECT_EQ(merged.max(), both.max());
  EXPECT_NEAR(merged.mean(), both.mean(), both.mean() * 1e-12);
  for (const double share : {0.1, 0.5, 0.99}) EXPECT_EQ(merged.quantile(share), both.quantile(share));
}

TEST(Histogram, TakesItsMemoryWhenAskedOrWithTheFirstSample) {
  EXPECT_LE(sizeof(Histogram), 80U) << "a fabric has 15,360 hosts, most of which may be idle";
  Histogram empty;
  const Histogram copy = empty;
  empty.merge(copy);
  EXPECT_EQ(copy.count(), 0U);
  Histogram first;
  first.add(5);
  Histogram second = first;
  second.add(7);
  EXPECT_EQ(first.quantile(1), 5U) << "a copy has buckets of its own";
  EXPECT_EQ(second.quantile(1), 7U);
  empty.merge(second);
  EXPECT_EQ(empty.quantile(0.5), 5U);
  second = Histogram{};
  EXPECT_EQ(second.quantile(0.5), 0U);
}

}  // namespace
}  // namespace softspine::dataplane
