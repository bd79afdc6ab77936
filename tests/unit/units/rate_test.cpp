// SPDX-License-Identifier: Apache-2.0
#include "dataplane/units/rate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "dataplane/units/wide.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr std::array<uint64_t, 14> kEthernetMbps{10,     100,    1'000,   2'500,   5'000,   10'000,  25'000,
                                                 40'000, 50'000, 100'000, 200'000, 400'000, 800'000, 56'000};
constexpr Uint128 kPsBits = 8'000'000'000'000;  // picoseconds that a byte takes at 1 b/s

// bytes × 8 / rate in whole picoseconds, halves upwards: in integers, with no fixed point in between.
int64_t nearest_ps(uint64_t bytes, uint64_t bps) {
  return static_cast<int64_t>((Uint128{bytes} * kPsBits + bps / 2) / bps);
}

TEST(Rate, EveryEthernetRateIsExactForEveryFrame) {
  for (const uint64_t mbps : kEthernetMbps) {
    const Rate rate = Rate::mbps(mbps);
    for (uint32_t bytes = 60; bytes <= 9216; ++bytes) {
      ASSERT_EQ(rate.time_of_frame(bytes).count_ps(), nearest_ps(bytes + 24, rate.count_bps()))
          << mbps << " Mb/s, " << bytes << " B";
    }
  }
}

TEST(Rate, KnownTimesOnTheWire) {
  EXPECT_EQ(Rate::gbps(400).time_of_frame(60).count_ps(), 1'680);  // 84 bytes
  EXPECT_EQ(Rate::gbps(10).time_of_frame(60).count_ps(), 67'200);
  EXPECT_EQ(Rate::mbps(10).time_of_frame(60).count_ps(), 67'200'000);
  EXPECT_EQ(Rate::gbps(100).time_of_frame(1514).count_ps(), 123'040);  // 1538 bytes
  EXPECT_EQ(Rate::gbps(800).time_of_frame(9216).count_ps(), 92'400);
}

TEST(Rate, AFrameBelowTheMinimumCostsTheMinimum) {
  for (uint32_t bytes = 0; bytes <= 60; ++bytes) {
    EXPECT_EQ(Rate::gbps(1).time_of_frame(bytes), Rate::gbps(1).time_of_frame(60)) << bytes;
  }
  EXPECT_GT(Rate::gbps(1).time_of_frame(61), Rate::gbps(1).time_of_frame(60));
}

TEST(Rate, AnyOtherRateIsOffByLessThanHalfAPicosecondAndAFiftieth) {
  uint64_t state = tests::seed();
  for (int i = 0; i < 200'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const uint64_t bps = 1'000'000 + (state >> 11) % 1'600'000'000'000U;
    const auto bytes = static_cast<uint32_t>(60 + (state >> 3) % 9157);
    const auto got = static_cast<Uint128>(Rate::bps(bps).time_of_frame(bytes).count_ps());
    const Uint128 exact_times_bps = Uint128{bytes + 24} * kPsBits;
    const Uint128 off = got * bps > exact_times_bps ? got * bps - exact_times_bps : exact_times_bps - got * bps;
    ASSERT_LE(off * 100, Uint128{bps} * 52) << bps << " b/s, " << bytes << " B";
  }
}

TEST(Rate, LongTransfersDoNotOverflow) {
  EXPECT_EQ(Rate::gbps(1).time_of_bytes(100'000'000'000).count_ps(), nearest_ps(100'000'000'000, 1'000'000'000));
  EXPECT_EQ(Rate::mbps(10).time_of_bytes(1'000'000'000).count_ps(), nearest_ps(1'000'000'000, 10'000'000));
  EXPECT_EQ(Rate::min().time_of_bytes(1'000'000'000), Duration::s(8'000));
}

TEST(Rate, ZeroIsNoRate) {
  EXPECT_TRUE(Rate{}.is_zero());
  EXPECT_FALSE(Rate::min().is_zero());
  EXPECT_LT(Rate::mbps(999), Rate::gbps(1));
  EXPECT_EQ(Rate::mbps(1000), Rate::gbps(1));
}

}  // namespace
}  // namespace softspine::dataplane
