// SPDX-License-Identifier: Apache-2.0
// Keys of `softspine top`.
#include "tools/softspine/top/top_keys.hpp"

#include <gtest/gtest.h>

namespace softspine::tools {
namespace {

using control::RankBy;

TopSettings after(std::string_view typed, TopSettings settings = {}) {
  EXPECT_TRUE(press(typed, 10, settings)) << typed;
  return settings;
}

TEST(TopKeys, SortAndBeginAtTheTop) {
  const std::pair<char, RankBy> kKeys[] = {{'h', RankBy::kHurt},
                                           {'p', RankBy::kPaused},
                                           {'d', RankBy::kDropped},
                                           {'o', RankBy::kOccupied},
                                           {'u', RankBy::kUtilised}};
  for (const auto& [key, by] : kKeys) {
    const TopSettings settings = after(std::string(1, key), {.by = RankBy::kUtilised, .first = 7});
    EXPECT_EQ(settings.by, by) << key;
    EXPECT_EQ(settings.first, 0U) << key;
  }
}

TEST(TopKeys, QuitOnlyWhereNoTextIsTyped) {
  TopSettings settings;
  EXPECT_FALSE(press("q", 10, settings));
  EXPECT_FALSE(press("pq", 10, settings));
  EXPECT_EQ(after("/q\r").filter, "q");
  settings = after("?");
  EXPECT_FALSE(press("q", 10, settings)) << "also from the help";
}

TEST(TopKeys, FilterAsItIsTyped) {
  EXPECT_EQ(after("/tor").filter, "tor");
  EXPECT_TRUE(after("/tor").is_typing);
  EXPECT_EQ(after("/tox\x7fr1\r").filter, "tor1");
  EXPECT_FALSE(after("/tor1\r").is_typing);
  EXPECT_EQ(after("/spine\x1b", {.filter = "tor"}).filter, "tor") << "Esc takes it back";
  EXPECT_EQ(after("\x1b", {.filter = "tor"}).filter, "") << "and outside it shows all";
  EXPECT_EQ(after("/\x7f\x7f").filter, "");
  EXPECT_EQ(after("/a\xc3\xa4\x01\x1b[A").filter, "a") << "no key but letters is a letter";
  EXPECT_EQ(after("/" + std::string(500, 'x')).filter.size(), 64U);
}

TEST(TopKeys, Scroll) {
  EXPECT_EQ(after("jj\x1b[B\x1bOB").first, 4U);
  EXPECT_EQ(after("k\x1b[A", {.first = 3}).first, 1U);
  EXPECT_EQ(after("kkkkk", {.first = 3}).first, 0U);
  EXPECT_EQ(after("\x1b[6~\x1b[6~\x1b[5~").first, 10U);
  EXPECT_EQ(after("\x1b[H", {.first = 3}).first, 0U);
}

TEST(TopKeys, ToggleAndLeaveTheHelp) {
  EXPECT_TRUE(after(" ").is_frozen);
  EXPECT_FALSE(after("  ").is_frozen);
  EXPECT_EQ(after("v").kind, RowKind::kLanes);
  EXPECT_EQ(after("vv").kind, RowKind::kPorts);
  EXPECT_TRUE(after("?").shows_help);
  const TopSettings left = after("?p");
  EXPECT_FALSE(left.shows_help);
  EXPECT_EQ(left.by, RankBy::kHurt) << "the key that leaves the help does nothing else";
}

TEST(TopKeys, WhatIsNoKeyDoesNothing) {
  const TopSettings settings = after("\x1b[24~zZ\x01\x1b[1;5C\x1b[");
  EXPECT_EQ(settings.filter, "");
  EXPECT_EQ(settings.first, 0U);
  EXPECT_EQ(settings.by, RankBy::kHurt);
}

}  // namespace
}  // namespace softspine::tools
