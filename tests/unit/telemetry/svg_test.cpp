// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/svg.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

TEST(AxisStep, IsTheLeastOneTwoOrFiveThatPartsASpanIntoSoMany) {
  EXPECT_DOUBLE_EQ(axis_step(5, 5), 1);
  EXPECT_DOUBLE_EQ(axis_step(5.1, 5), 2);
  EXPECT_DOUBLE_EQ(axis_step(10.1, 5), 5);
  EXPECT_DOUBLE_EQ(axis_step(25.1, 5), 10);
  EXPECT_DOUBLE_EQ(axis_step(1e9, 12), 1e8);
  EXPECT_DOUBLE_EQ(axis_step(1.3e9, 12), 2e8);
  EXPECT_DOUBLE_EQ(axis_step(0.06, 6), 0.01);
}

}  // namespace
}  // namespace softspine::control
