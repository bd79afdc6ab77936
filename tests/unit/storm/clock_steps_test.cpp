// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/clock_steps.hpp"

#include <gtest/gtest.h>

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;

// Stretches of so many frames, 1 ms apart, with `gap` between them.
ClockSteps stretches(int count, int frames, Duration gap) {
  ClockSteps out;
  Instant at;
  for (int i = 0; i < count; ++i) {
    for (int n = 0; n < frames; ++n) {
      out.place(at);
      at = at + Duration::ms(1);
    }
    at = at + gap;
  }
  return out;
}

TEST(ClockSteps, AheadAreThoseThatDwarfAllOthers) {
  const auto found = stretches(2, 20, Duration::s(10)).steps();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].at, Instant{} + Duration::ms(19));
  EXPECT_EQ(found[0].by, Duration::s(10) + Duration::ms(1));
  EXPECT_EQ(found[0].until, Instant{} + Duration::ms(20) + Duration::s(10));
  EXPECT_TRUE(stretches(2, 20, Duration::ms(900)).steps().empty()) << "below a second";
}

// Twenty frames for each: what is usual has to be known.
TEST(ClockSteps, AheadNeedFramesToBeToldFrom) {
  EXPECT_EQ(stretches(3, 14, Duration::s(10)).steps().size(), 2u) << "of 42 frames";
  EXPECT_EQ(stretches(3, 13, Duration::s(10)).steps().size(), 0u) << "of 39 frames";
  EXPECT_EQ(stretches(2, 10, Duration::s(10)).steps().size(), 1u) << "of 20 frames";
  EXPECT_EQ(stretches(2, 9, Duration::s(10)).steps().size(), 0u) << "of 18 frames";
}

TEST(ClockSteps, BackGoOnASecondLater) {
  ClockSteps steps;
  steps.place(Instant::at_ps(0) + Duration::s(10));
  const Instant placed = steps.place(Instant::at_ps(0) + Duration::s(2));
  EXPECT_EQ(placed, Instant::at_ps(0) + Duration::s(11));
  ASSERT_EQ(steps.steps().size(), 1u);
  EXPECT_TRUE(steps.steps()[0].is_back());
  EXPECT_EQ(steps.place(Instant::at_ps(0) + Duration::s(3)), Instant::at_ps(0) + Duration::s(12));
}

TEST(ClockSteps, ASecondIsNear) {
  const Instant at = Instant::at_ps(0) + Duration::s(5);
  for (const Duration most : {ClockSteps::kLeast, Duration{} - ClockSteps::kLeast}) {
    const Duration more = most + (most > Duration{} ? Duration::ps(1) : Duration::ps(-1));
    EXPECT_TRUE(ClockSteps::is_near(at, at + most));
    EXPECT_FALSE(ClockSteps::is_near(at, at + more));
  }
}

}  // namespace
}  // namespace softspine::analysis::storm
