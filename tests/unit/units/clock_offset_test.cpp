// SPDX-License-Identifier: Apache-2.0
#include "dataplane/units/clock_offset.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace softspine::dataplane {
namespace {

TEST(ClockOffset, ScalesARateByItsPartsPerBillion) {
  EXPECT_EQ(ClockOffset::ppb(100'000).of(Rate::gbps(400)), Rate::bps(400'040'000'000));
  EXPECT_EQ(ClockOffset::ppb(-1).of(Rate::gbps(100)), Rate::bps(99'999'999'900));
  EXPECT_EQ(ClockOffset{}.of(Rate::gbps(25)), Rate::gbps(25));
  EXPECT_TRUE(ClockOffset::ppb(50'000).of(Rate{}).is_zero());
}

// Uniform within ±b: mean 0, variance b² / 3. Of 20,000 draws the mean is within 4 b / √(3 · 20,000), the variance
// within 4 · b² · √(4 / 45 / 20,000) of these.
TEST(ClockOffset, IsDrawnUniformlyWithinTheBound) {
  constexpr int kDraws = 20'000;
  constexpr double kBound = 100'000;
  double sum = 0;
  double squares = 0;
  for (uint32_t node = 0; node < kDraws; ++node) {
    const int32_t ppb = ClockOffset::drawn(7, node, 100).count_ppb();
    ASSERT_LE(std::abs(ppb), kBound);
    sum += ppb;
    squares += static_cast<double>(ppb) * ppb;
  }
  EXPECT_NEAR(sum / kDraws, 0, 4 * kBound / 245);
  EXPECT_NEAR(squares / kDraws / (kBound * kBound), 1.0 / 3, 4 * 0.00211);
}

TEST(ClockOffset, FollowsSeedAndNode) {
  EXPECT_EQ(ClockOffset::drawn(1, 5, 100).count_ppb(), ClockOffset::drawn(1, 5, 100).count_ppb());
  EXPECT_NE(ClockOffset::drawn(1, 5, 100).count_ppb(), ClockOffset::drawn(2, 5, 100).count_ppb());
  EXPECT_NE(ClockOffset::drawn(1, 5, 100).count_ppb(), ClockOffset::drawn(1, 6, 100).count_ppb());
  EXPECT_EQ(ClockOffset::drawn(1, 5, 0).count_ppb(), 0);
}

}  // namespace
}  // namespace softspine::dataplane
