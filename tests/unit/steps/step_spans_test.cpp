// SPDX-License-Identifier: Apache-2.0
#include "control/steps/step_spans.hpp"

#include <gtest/gtest.h>

#include "tests/unit/steps/microseconds.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using tests::us;

TEST(StepSpans, JoinWhatOverlapsOrTouches) {
  StepSpans spans;
  spans.add(us(0), us(10));
  spans.add(us(5), us(12));
  spans.add(us(12), us(14));
  spans.add(us(20), us(20));
  spans.add(us(20), us(22));
  ASSERT_EQ(spans.all().size(), 2U);
  EXPECT_EQ(spans.all()[0].from, us(0));
  EXPECT_EQ(spans.all()[0].to, us(14));
  EXPECT_EQ(spans.all()[0].busy, Duration::us(14));
  EXPECT_EQ(spans.all()[1].busy, Duration::us(2));
}

TEST(StepSpans, TakeInWhatALongerOneCovers) {
  StepSpans spans;
  spans.add(us(4), us(6));
  spans.add(us(8), us(9));
  spans.add(us(1), us(10));
  ASSERT_EQ(spans.all().size(), 1U);
  EXPECT_EQ(spans.all()[0].from, us(1));
  EXPECT_EQ(spans.all()[0].busy, Duration::us(9));
}

// A tenth of the time, a thousand times: fewer spans, the same time in them.
TEST(StepSpans, StayFewAndKeepTheirTime) {
  StepSpans spans;
  for (int64_t i = 0; i < 1000; ++i) spans.add(us(10 * i), us(10 * i + 1));
  EXPECT_LT(spans.all().size(), StepSpans::kMost);
  Duration busy;
  for (const StepSpan& span : spans.all()) busy += span.busy;
  EXPECT_EQ(busy, Duration::us(1000));
  const Duration last = spans.all().back().busy;
  spans.add(us(9990), us(9991));
  EXPECT_EQ(spans.all().back().busy, last) << "it was busy then before";
  spans.add(spans.all().back().from, us(9991));
  EXPECT_EQ(spans.all().back().busy, us(9991) - spans.all().back().from) << "no gap is left";
  EXPECT_EQ(spans.all().front().from, us(0));
  EXPECT_EQ(spans.all().back().to, us(9991));
}

}  // namespace
}  // namespace softspine::control
