// SPDX-License-Identifier: Apache-2.0
// What `softspine check` says of headroom: to the byte, and only where it is too little.
#include "dataplane/buffer/headroom.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "control/compile/headroom_check.hpp"
#include "control/format/quantity.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using tests::read_well;
using tests::with_fabric;

// ToRs: two hosts at 100G over 5 m, one spine at 400G over 40 m; MTU 9100.
HeadroomCheck check_of(std::string_view tables) {
  return check_headroom(read_well(with_fabric("profiles:\n  tor: {" + std::string(tables) + "}\nroles: {tor: tor}\n")));
}
std::string with_xoff(uint64_t bytes, std::string_view more = "") {
  return "base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: " + std::to_string(bytes) + "B}}" +
         std::string(more);
}
uint64_t needed(dataplane::Rate rate, uint64_t metres, uint32_t smallest = dataplane::kMinFrameBytes) {
  return 256 * dataplane::headroom_cells({.rate = rate,
                                          .propagation = propagation_of(Length::metres(metres)),
                                          .largest_frame = 9'118,
                                          .smallest_frame = smallest,
                                          .cell = dataplane::CellSize(256),
                                          .response = dataplane::PauseTiming::of(rate).response,
                                          .clock_ppm = dataplane::kMaxClockPpm});
}

TEST(HeadroomCheck, AutomaticHeadroomIsAlwaysEnough) {
  const HeadroomCheck check = check_of("base: lossless");
  EXPECT_EQ(check.judged, 2u * 3 * 2);  // two ToRs, three ports, two groups
  EXPECT_TRUE(check.too_little.empty());
  EXPECT_TRUE(check.shared.empty());
  EXPECT_TRUE(check.remarks.empty());
}

TEST(HeadroomCheck, NamesPortsThatAreAlikeOnce) {
  const uint64_t fast = needed(dataplane::Rate::gbps(400), 40);
  const uint64_t slow = needed(dataplane::Rate::gbps(100), 5);
  ASSERT_LT(slow, fast);
  EXPECT_TRUE(check_of(with_xoff(fast)).too_little.empty());
  const HeadroomCheck one_less = check_of(with_xoff(fast - 256));
  ASSERT_EQ(one_less.too_little.size(), 1u);
  EXPECT_EQ(one_less.too_little[0].ports, (std::vector<std::string>{"tor1:Ethernet8", "tor2:Ethernet8"}));
  EXPECT_EQ(one_less.too_little[0].needed_bytes, fast);
  EXPECT_EQ(one_less.too_little[0].has_bytes, fast - 256);
  EXPECT_EQ(one_less.too_little[0].mtu, 9'100u);
  EXPECT_EQ(one_less.too_little[0].place.file, "t.yaml") << "where it was changed";
  EXPECT_EQ(check_of(with_xoff(slow)).too_little.size(), 1u);
  EXPECT_EQ(check_of(with_xoff(slow - 255)).too_little.size(), 1u) << "a part of a cell is rounded up to one";
  EXPECT_EQ(check_of(with_xoff(slow - 256)).too_little.size(), 2u);
}

TEST(HeadroomCheck, SaysForWhichFramesItIsEnough) {
  const auto rate = dataplane::Rate::gbps(400);
  const HeadroomCheck check = check_of(with_xoff(needed(rate, 40, 1'000)));
  const auto uplinks = std::ranges::find(check.too_little, rate, &ShortHeadroom::rate);
  ASSERT_NE(uplinks, check.too_little.end());
  const uint32_t from = uplinks->enough_from;
  EXPECT_LE(from, 1'000u);
  EXPECT_LE(needed(rate, 40, from), uplinks->has_bytes);
  EXPECT_GT(needed(rate, 40, from - 1), uplinks->has_bytes);
  EXPECT_EQ(check_of(with_xoff(2'048)).too_little.at(0).enough_from, 0u);
}

TEST(HeadroomCheck, HeadroomForTheLargestFrameIsEnoughForThatOneAlone) {
  const auto rate = dataplane::Rate::gbps(400);
  const auto from_of = [&](uint64_t xoff) {
    const HeadroomCheck check = check_of(with_xoff(xoff));
    const auto uplinks = std::ranges::find(check.too_little, rate, &ShortHeadroom::rate);
    return uplinks == check.too_little.end() ? UINT32_MAX : uplinks->enough_from;
  };
  const uint64_t largest = needed(rate, 40, 9'118);
  ASSERT_LT(largest, needed(rate, 40));
  EXPECT_NE(from_of(largest), 0u);
  EXPECT_LE(needed(rate, 40, from_of(largest)), largest);
  EXPECT_EQ(from_of(largest - 256), 0u) << "not even for frames of the largest size";
}

// Lossless groups that no enabled priority uses cannot be overrun.
TEST(HeadroomCheck, JudgesOnlyWhatAPauseCanReach) {
  EXPECT_EQ(check_of("base: lossless, PORT_QOS_MAP: {global: {pfc_enable: [3]}}").judged, 2u * 3 * 1);
  EXPECT_EQ(check_of("base: lossless, PORT_QOS_MAP: {global: {pfc_enable: [3, 4]}}").judged, 2u * 3 * 2);
}

TEST(HeadroomCheck, SumsUpWhatASharedHeadroomPoolIsPromised) {
  const HeadroomCheck check = check_of("base: sonic-tomahawk-100g-300m");
  ASSERT_EQ(check.shared.size(), 2u);
  EXPECT_EQ(check.shared[0].node, "tor1");
  EXPECT_EQ(check.shared[0].pool, "ingress_lossless_pool");
  EXPECT_EQ(check.shared[0].promised_bytes, 6u * 268'736);
  EXPECT_EQ(check.shared[0].has_bytes, 4'194'112u);
}

TEST(HeadroomCheck, RemarksOnPausesThatDoNotGoWithBuffers) {
  const auto remarks_on = [](std::string_view tables) {
    std::vector<std::string> out;
    for (const Error& remark : check_of(tables).remarks) {
      EXPECT_EQ(remark.line, 5) << "the profile's";
      out.push_back(remark.message);
    }
    return out;
  };
  EXPECT_EQ(
      remarks_on("base: azure"),
      (std::vector<std::string>{
          "profile tor: priority group 3 has no buffer tables: its priority obeys pauses, and nobody is asked to pause "
          "it",
          "profile tor: priority group 4 has no buffer tables: its priority obeys pauses, and nobody is asked to pause "
          "it"}));
  EXPECT_EQ(remarks_on("base: lossless, PORT_QOS_MAP: {global: {pfc_enable: [3]}}"),
            (std::vector<std::string>{
                "profile tor: priority group 4 is lossless, but none of its priorities is in pfc_enable"}));
}

}  // namespace
}  // namespace softspine::control
