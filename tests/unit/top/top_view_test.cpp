// SPDX-License-Identifier: Apache-2.0
// Lines of `softspine top`: what they say, and that they fit every terminal.
#include "tools/softspine/top/top_view.hpp"

#include <gtest/gtest.h>

#include "tools/softspine/top/top_terminal.hpp"

namespace softspine::tools {
namespace {

using namespace control;

PortMap four_ports() {
  return {.testbed = "storm",
          .ports = {{.name = "tor1:Ethernet0", .peer = 1, .rate_bps = 100'000'000'000},
                    {.name = "h1:eth0", .peer = 0, .rate_bps = 100'000'000'000},
                    {.name = "tor1:Ethernet4", .peer = 3, .rate_bps = 100'000'000'000},
                    {.name = "h2:eth0", .peer = 2, .rate_bps = 100'000'000'000}}};
}

// In 1 ms tor1:Ethernet0 is paused all the time, h2:eth0 marks, tor1:Ethernet4 is down.
TopLooks some_looks() {
  TopLooks out{.before = {.at_ps = 1'000'000'000, .ports = std::vector<PortPressure>(4)},
               .now = {.at_ps = 2'000'000'000, .ports = std::vector<PortPressure>(4)}};
  out.now.ports[0].lanes[3] = {
      .paused_ps = 1'000'000'000, .queue_bytes = 51'200, .queue = {.bytes = 45, .limit_bytes = 100}};
  out.now.ports[2].up = false;
  out.now.ports[3].lanes[0].marked = 12;
  out.now.ports[1].tx_bytes = 12'500'000;
  return out;
}

std::vector<std::string> texts_of(const std::vector<ScreenLine>& lines) {
  std::vector<std::string> out;
  for (const ScreenLine& line : lines) out.push_back(line.text);
  return out;
}

TEST(TopView, ShowsTheWorstFirst) {
  const auto picture = top_picture(four_ports(), some_looks(), {}, "", {.rows = 10, .columns = 80});
  EXPECT_EQ(picture.rows, 4U);
  EXPECT_EQ(texts_of(picture.lines),
            (std::vector<std::string>{
                "storm 2.000 ms  over 1.000 ms  by hurt  ports 1-4 of 4  ? help",
                " PORT           PAUSED DROP/s  FULL Q MARK/s   OUT    IN XOFF QUEUE(B)  PG(B)",
                "!tor1:Ethernet0   100%      0   45% 3      0    0%  100%    -      51k      0",
                " h1:eth0            0%      0     - 0      0  100%    0%    -        0      0",
                "!tor1:Ethernet4   down      0     - 0      0    0%    0%    -        0      0",
                "~h2:eth0            0%      0     - 0    12k    0%    0%    -        0      0",
            }));
  EXPECT_EQ(picture.lines[2].tone, Tone::kHurts);
  EXPECT_EQ(picture.lines[5].tone, Tone::kWarns);
}

TEST(TopView, FitsEveryTerminal) {
  for (size_t rows = 1; rows < 12; ++rows) {
    for (size_t columns = 1; columns < 260; ++columns) {
      for (const RowKind kind : {RowKind::kPorts, RowKind::kLanes}) {
        for (const char* notice : {"", "no answer for 7 s: the fabric did not answer in time, and so on and so on"}) {
          for (const bool help : {false, true}) {
            const TopSettings settings{.kind = kind, .shows_help = help};
            const auto picture = top_picture(four_ports(), some_looks(), settings, notice, {rows, columns});
            ASSERT_LE(picture.lines.size(), rows) << columns;
            ASSERT_FALSE(picture.lines.empty());
            for (const ScreenLine& line : picture.lines) ASSERT_LE(line.text.size(), columns) << line.text;
          }
        }
      }
    }
  }
}

TEST(TopView, ANarrowTerminalHasTheNameAndThePauses) {
  const auto picture = top_picture(four_ports(), some_looks(), {}, "", {.rows = 5, .columns = 20});
  EXPECT_EQ(texts_of(picture.lines),
            (std::vector<std::string>{"storm 2.000 ms  over", " PORT         PAUSED", "!tor1:Etherne   100%",
                                      " h1:eth0          0%", "!tor1:Etherne   down"}));
}

TEST(TopView, FiltersByAPortsAndItsPeersName) {
  const TopRows rows = rows_for(four_ports(), some_looks(), {.filter = "H2"}, 9);
  ASSERT_EQ(rows.all, 2U);
  EXPECT_EQ(rows.rows[0].port, 2U);
  EXPECT_EQ(rows.rows[1].port, 3U);
}

TEST(TopView, ScrollsThroughOneOrder) {
  const TopRows all = rows_for(four_ports(), some_looks(), {}, 4);
  for (size_t first = 0; first < 6; ++first) {
    const TopRows rows = rows_for(four_ports(), some_looks(), {.first = first}, 2);
    ASSERT_EQ(rows.rows.size(), first > 4 ? 0 : std::min<size_t>(2, 4 - first));
    for (size_t i = 0; i < rows.rows.size(); ++i) EXPECT_EQ(rows.rows[i].port, all.rows[first + i].port);
  }
}

TEST(TopView, ANoticeAndAFilterHaveTheLastLine) {
  const auto said = top_picture(four_ports(), some_looks(), {}, "no answer for 7 s", {.rows = 4, .columns = 80});
  EXPECT_EQ(said.lines.size(), 4U);
  EXPECT_EQ(said.lines.back().text, "no answer for 7 s");
  TopSettings typing{.filter = "tor1", .is_typing = true};
  const auto typed = top_picture(four_ports(), some_looks(), typing, "no answer", {.rows = 4, .columns = 80});
  EXPECT_EQ(typed.lines.back().text, "/tor1_");
}

TEST(TopNumbers, AreShort) {
  const std::pair<double, const char*> kNumbers[] = {{0, "0"},       {0.04, "0.0"},   {3, "3"},         {3.25, "3.2"},
                                                     {999, "999"},   {999.6, "1.0k"}, {1'000, "1.0k"},  {9'940, "9.9k"},
                                                     {9'960, "10k"}, {123e6, "123M"}, {4.5e12, "4.5T"}, {1e15, "1.0P"}};
  for (const auto& [number, text] : kNumbers) EXPECT_EQ(short_number(number), text) << number;
  const std::pair<double, const char*> kShares[] = {{0, "0%"},       {0.001, "0.1%"}, {0.0994, "9.9%"},
                                                    {0.0996, "10%"}, {1, "100%"},     {1.5, "150%"}};
  for (const auto& [share, text] : kShares) EXPECT_EQ(percent_text(share), text) << share;
}

TEST(TopScreenText, FillsTheTerminalAndHasColoursOnlyIfWanted) {
  const std::vector<ScreenLine> lines{{"ab", Tone::kHurts}};
  EXPECT_EQ(drawn(lines, {.rows = 2, .columns = 3}, false), "\x1b[1;1H\x1b[1mab \x1b[0m\x1b[2;1H   \x1b[0m");
  EXPECT_EQ(drawn(lines, {.rows = 1, .columns = 2}, true), "\x1b[1;1H\x1b[1;38;5;208mab\x1b[0m");
}

}  // namespace
}  // namespace softspine::tools
