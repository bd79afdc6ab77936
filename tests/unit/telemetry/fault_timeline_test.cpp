// SPDX-License-Identifier: Apache-2.0
#include "control/report/fault_timeline.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "control/report/loss_window_json.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

FabricSnapshot with_faults(size_t count) {
  FabricSnapshot fabric = tests::small_fabric();
  for (size_t i = 0; i < count; ++i) {
    LossWindow window{.at = Instant::at(Duration::us(10 * static_cast<int64_t>(i)))};
    window.lost.add(window.at + Duration::us(3), 1000);
    window.over_time.add(Duration::us(3));
    window.converged = window.at + Duration::us(5);
    fabric.faults.push_back(
        {.at = window.at, .what = "link <a> – b down", .number = static_cast<uint32_t>(i), .window = window});
  }
  return fabric;
}

TEST(FaultTimeline, HasARowForEachFaultThatBeganWithItsLossesAndMarks) {
  FabricSnapshot fabric = with_faults(2);
  fabric.faults.push_back({.at = Instant::at(Duration::us(90)), .what = "link a – b up"});
  const std::string svg = fault_timeline(fabric, "small");
  EXPECT_EQ(count_of(svg, "link &lt;a&gt; – b down"), 2u) << "escaped";
  EXPECT_EQ(count_of(svg, "a – b up"), 0u) << "a repair is no fault";
  EXPECT_EQ(count_of(svg, "<title>1 packet in 1 us</title>"), 2u);
  EXPECT_EQ(count_of(svg, ">R</text>"), 2u);
  EXPECT_EQ(count_of(svg, ">A</text>"), 0u) << "nothing is as before";
}

// From 10 to 25 us, and 4 % of these 15 us more at both ends: 16.2 us on 1,160 points, from 20 to 1,180.
TEST(FaultTimeline, HasAMarginBeforeTheFirstFaultAndAfterTheLastMark) {
  FabricSnapshot fabric = with_faults(3);
  fabric.faults.erase(fabric.faults.begin());
  const std::string svg = fault_timeline(fabric, "small");
  const auto x = [](double us) { return fmt::format("{:.1f}", 20 + (us - 9.4) / 16.2 * 1'160); };
  for (const double mark : {15.0, 25.0})
    EXPECT_EQ(count_of(svg, fmt::format("<text x=\"{}\"", x(mark))), 1u) << x(mark) << "\n" << svg;
}

TEST(FaultTimeline, CountsTheRowsThatItHasNoRoomFor) {
  const std::string svg = fault_timeline(with_faults(43), "small");
  EXPECT_EQ(count_of(svg, "b down"), 40u);
  EXPECT_EQ(count_of(svg, "and 3 more faults"), 1u);
}

TEST(FaultTimeline, KeepsThoseThatCostMost) {
  FabricSnapshot fabric = with_faults(43);
  for (const size_t i : {41u, 42u}) {
    fabric.faults[i].what = "a costly one";
    fabric.faults[i].window->lost.add(fabric.faults[i].at + Duration::us(4), 1000);
  }
  fabric.faults[40].what = "a long one";
  fabric.faults[40].window->flows.push_back({.stalled = Duration::us(7)});
  const std::string svg = fault_timeline(fabric, "small");
  EXPECT_EQ(count_of(svg, "a costly one"), 2u);
  EXPECT_EQ(count_of(svg, "a long one"), 1u);
  EXPECT_EQ(count_of(svg, "b down"), 37u);
  EXPECT_EQ(count_of(svg, "2 packets lost in 4 us"), 2u);
  EXPECT_EQ(count_of(svg, "1 packet lost in 3 us"), 38u);
  EXPECT_LT(svg.find("a long one"), svg.find("a costly one")) << "in the order of time";
}

TEST(FaultTimeline, OfARunWithoutFaultsSaysSo) {
  EXPECT_EQ(count_of(fault_timeline(tests::small_fabric(), "small"), "no fault has struck"), 1u);
}

TEST(LossBins, HoldAnyTimeAndLoseNoPacket) {
  LossBins bins;
  for (int64_t us = 0; us < 1'000; ++us) bins.add(Duration::us(us));
  uint64_t sum = 0;
  for (const uint32_t packets : bins.packets) sum += packets;
  EXPECT_EQ(sum, 1'000u);
  EXPECT_EQ(bins.width, Duration::us(16)) << "64 bins of 16 us are the first to hold 1,000 us";
  EXPECT_EQ(bins.packets[0], 16u);
  EXPECT_EQ(bins.packets[62], 8u);
}

}  // namespace
}  // namespace softspine::control
