// SPDX-License-Identifier: Apache-2.0
// A path MTU that fits no way is an error, one that fits some of the ways a warning.
#include <gtest/gtest.h>

#include "control/compile/review.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::read_well;

// Two ToRs, two spines; `links`: of spine2's, replaced. 4,096 + 80 bytes of headers = 4,176.
Review mtu_review_of(uint32_t fabric_mtu, uint32_t spine2_mtu, const std::string& workload) {
  const auto link = [](const std::string& a, const std::string& b, uint32_t mtu) {
    return "    - {endpoints: [" + a + ", " + b + "], rate: 100Gbps, length: 5m, mtu: " + std::to_string(mtu) + "}\n";
  };
  std::string text =
      "name: t\ntopology:\n  nodes:\n"
      "    t1: {kind: switch, role: tor}\n    t2: {kind: switch, role: tor}\n"
      "    s1: {kind: switch, role: aggregation}\n    s2: {kind: switch, role: aggregation}\n"
      "    h1: {kind: host}\n    h2: {kind: host}\n    h3: {kind: host}\n  links:\n";
  text += link("h1", "t1", 9'000) + link("h2", "t1", 9'000) + link("h3", "t2", 9'000);
  for (const char* tor : {"t1", "t2"}) text += link(tor, "s1", fabric_mtu) + link(tor, "s2", spine2_mtu);
  return review(read_well(text + "workload:\n  - {name: w, mtu: 4096, " + workload +
                          (workload.contains("message") ? "" : ", message: 1MiB") + "}\n"));
}

bool mtu_says(const Errors& all, const std::string& part) {
  return std::ranges::any_of(all, [&](const Error& each) { return each.message.find(part) != std::string::npos; });
}

TEST(MtuReview, WhatFitsNoWayIsAnError) {
  const Review found = mtu_review_of(1'500, 1'500, "pattern: pairs, from: h1, to: h3");
  ASSERT_EQ(found.errors.size(), 1U);
  EXPECT_EQ(found.errors[0].message,
            "an mtu of 4096 makes packets of up to 4176 bytes, which fit no way from h1 to h3: not t1:Ethernet8 to "
            "s1:Ethernet0, whose mtu is 1500");
  EXPECT_FALSE(mtu_says(found.warnings, "do not fit"));
}

TEST(MtuReview, ToTheByte) {
  EXPECT_EQ(mtu_review_of(4'175, 4'175, "pattern: pairs, from: h1, to: h3").errors.size(), 1U);
  const Review fits = mtu_review_of(4'176, 4'176, "pattern: pairs, from: h1, to: h3");
  EXPECT_TRUE(fits.errors.empty());
  EXPECT_FALSE(mtu_says(fits.warnings, "do not fit"));
}

TEST(MtuReview, WhatFitsSomeOfTheWaysIsAWarning) {
  for (const uint32_t enough : {4'176U, 9'000U}) {
    const Review found = mtu_review_of(enough, 1'500, "pattern: pairs, from: h1, to: h3");
    EXPECT_TRUE(found.errors.empty());
    EXPECT_TRUE(
        mtu_says(found.warnings, "do not fit t1:Ethernet12 to s2:Ethernet0, whose mtu is 1500, and 1 more link:"));
  }
  EXPECT_TRUE(mtu_review_of(1'500, 1'500, "pattern: pairs, from: h1, to: h2").errors.empty()) << "within the rack";
}

TEST(MtuReview, AcknowledgementsFitAnyWay) {
  const std::string one_way = ", transport: rc";
  const Review found = mtu_review_of(1'500, 1'500, "pattern: pairs, from: h1, to: h3" + one_way);
  ASSERT_EQ(found.errors.size(), 1U);
  EXPECT_TRUE(mtu_says(found.errors, "fit no way from h1 to h3: not t1:Ethernet8 to s1:Ethernet0"));
  const Review some = mtu_review_of(9'000, 1'500, "pattern: pairs, from: h1, to: h3" + one_way);
  EXPECT_TRUE(mtu_says(some.warnings, "and 1 more link")) << "there, not back";
}

TEST(MtuReview, MessagesMayBeShorterThanThePathMtu) {
  const auto of = [](uint32_t mtu, const std::string& message) {
    return mtu_review_of(mtu, mtu, "pattern: pairs, from: h1, to: h3, qps: 2, " + message).errors.size();
  };
  EXPECT_EQ(of(2'128, "message: 2KiB"), 0U);
  EXPECT_EQ(of(2'127, "message: 2KiB"), 1U);
  EXPECT_EQ(of(2'128, "message: 4KiB"), 1U);
  EXPECT_EQ(of(2'128, "message: 4KiB, scaling: split"), 0U);
  EXPECT_EQ(of(2'127, "message: 4KiB, scaling: split"), 1U);
}

TEST(MtuReview, APermutationIsDrawnAndOnlyWarnedOf) {
  const Review drawn = mtu_review_of(1'500, 1'500, "pattern: permutation");
  EXPECT_TRUE(drawn.errors.empty());
  EXPECT_TRUE(mtu_says(drawn.warnings, "do not fit"));
  EXPECT_EQ(mtu_review_of(1'500, 1'500, "pattern: all_to_all").errors.size(), 1U);
}

}  // namespace
}  // namespace softspine::control
