// SPDX-License-Identifier: Apache-2.0
#include "dataplane/units/time.hpp"

#include <gtest/gtest.h>

namespace softspine::dataplane {
namespace {

TEST(Time, UnitsArePicoseconds) {
  EXPECT_EQ(Duration::ps(1).count_ps(), 1);
  EXPECT_EQ(Duration::ns(1).count_ps(), 1'000);
  EXPECT_EQ(Duration::us(1).count_ps(), 1'000'000);
  EXPECT_EQ(Duration::ms(1).count_ps(), 1'000'000'000);
  EXPECT_EQ(Duration::s(1).count_ps(), 1'000'000'000'000);
}

TEST(Time, CountsFor106Days) {
  constexpr int64_t kDay = 86'400;
  EXPECT_FALSE((Instant{} + Duration::s(106 * kDay)).is_never());
  EXPECT_DOUBLE_EQ((Instant{} + Duration::s(106 * kDay)).seconds(), 106.0 * kDay);
}

TEST(Time, SumsWithNeverStayNever) {
  EXPECT_TRUE((Instant::never() + Duration{}).is_never());
  EXPECT_TRUE((Instant::never() + Duration::ps(1)).is_never());
  EXPECT_TRUE((Instant::never() + Duration::max()).is_never());
  EXPECT_TRUE((Instant::at_ps(1) + Duration::max()).is_never());
  EXPECT_TRUE((Instant{} + Duration::max()).is_never());
}

TEST(Time, DifferencesAreSigned) {
  const Instant early = Instant::at_ps(5);
  const Instant late = Instant::at_ps(12);
  EXPECT_EQ((late - early).count_ps(), 7);
  EXPECT_EQ((early - late).count_ps(), -7);
  EXPECT_EQ((late - Duration::ps(12)), Instant{});
  EXPECT_LT(early, late);
}

TEST(Time, DurationsAddScaleAndDivide) {
  Duration d = Duration::ns(3);
  d += Duration::ps(1);
  d -= Duration::ps(2);
  EXPECT_EQ(d.count_ps(), 2'999);
  EXPECT_EQ((d * 4).count_ps(), 11'996);
  EXPECT_EQ((4 * d).count_ps(), 11'996);
  EXPECT_EQ((d / 4).count_ps(), 749);  // towards zero
  EXPECT_EQ(Duration::us(1) / Duration::ns(3), 333);
}

}  // namespace
}  // namespace softspine::dataplane
