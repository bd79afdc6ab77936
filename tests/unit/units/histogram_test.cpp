// SPDX-License-Identifier: Apache-2.0
#include "dataplane/units/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Histogram, QuantilesAreWithinASixteenthOfTheSortedSamples) {
  Rng rng{tests::seed(), 1};
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> values = samples(rng, 1 + rng.below(2000));
    Histogram histogram;
    for (const uint64_t v : values) histogram.add(static_cast<int64_t>(v));
    std::sort(values.begin(), values.end());
    for (const double share : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const uint64_t exact = sorted_quantile(values, share);
      const uint64_t got = histogram.quantile(share);
      ASSERT_GE(got, exact) << "share " << share << " of " << values.size();
      ASSERT_LE(got, exact + exact / 16) << "share " << share << " of " << values.size();
    }
  }
}

TEST(Histogram, SmallNumbersAreExact) {
  Histogram histogram;
  for (int64_t v = 0; v < 16; ++v) histogram.add(v);
  for (int rank = 1; rank <= 16; ++rank) {
    EXPECT_EQ(histogram.quantile(rank / 16.0), static_cast<uint64_t>(rank - 1));
  }
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
  EXPECT_LE(sizeof(Histogram), 64U) << "a fabric has 15,360 hosts, most of which may be idle";
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
