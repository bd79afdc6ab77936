// SPDX-License-Identifier: Apache-2.0
#include "control/topology/name_patterns.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace softspine::control {
namespace {

TEST(NamePatterns, ANumberHasDigitsAloneAndNoLeadingZero) {
  EXPECT_EQ(number_in("0"), 0u);
  EXPECT_EQ(number_in("7"), 7u);
  EXPECT_EQ(number_in("10"), 10u);
  EXPECT_EQ(number_in("4294967295"), UINT32_MAX);
  for (const char* none : {"", "00", "07", "4294967296", "1a", "a1", "-1", "+1", " 1"})
    EXPECT_EQ(number_in(none), std::nullopt) << none;
}

TEST(NamePatterns, TwoNamesSpanARangeIfTheyDifferInOneNumber) {
  const auto range = names_between("s1-h0-nic2", "s1-h11-nic2");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->before, "s1-h");
  EXPECT_EQ(range->after, "-nic2");
  EXPECT_EQ(range->first, 0u);
  EXPECT_EQ(range->last, 11u);
  const auto tens = names_between("h10", "h19");
  ASSERT_TRUE(tens);
  EXPECT_EQ(tens->before, "h") << "a number begins with its first digit";
  EXPECT_EQ(tens->first, 10u);
  EXPECT_EQ(tens->last, 19u);
  EXPECT_FALSE(names_between("s1-h1", "s2-h2"));
  EXPECT_FALSE(names_between("h1", "g2"));
  EXPECT_FALSE(names_between("h01", "h02"));
  EXPECT_FALSE(names_between("h1-nic1", "h2-nic2"));
}

}  // namespace
}  // namespace softspine::control
