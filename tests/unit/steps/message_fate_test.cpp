// SPDX-License-Identifier: Apache-2.0
#include "control/steps/message_fate.hpp"

#include <gtest/gtest.h>

#include "tests/unit/steps/microseconds.hpp"
#include "tests/unit/steps/star_of_three.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::us;

// Ten frames of 1,000 bytes, at a nanosecond a byte, on two links of 10 ns.
constexpr Duration kIdeal = Duration::ns(10'000 + 1'000 + 20);

class Fate : public testing::Test {
 protected:
  Fate() {
    message_.bytes = 9'180;
    message_.packets = 10;
    message_.parts = 1;
    message_.hops = {{.port = {0, 0}, .packets = 10}, {.port = {3, 1}, .packets = 10}};
    be_late(Duration::us(50));
  }
  void be_late(Duration by) { message_.arrived = message_.was_next() + kIdeal + by; }
  std::optional<MessageDelay> delay(Instant from = {}) const { return delay_of(message_, fabric_, from); }
  WaitCause cause() const { return delay().value().cause; }
  LinkEnd place() const { return delay().value().hop->port; }

  Fabric fabric_ = tests::star_of_three();
  MessageFate message_;
};

TEST_F(Fate, IsIdealIfOnlyItsOwnLinkSlowsItDown) {
  EXPECT_EQ(ideal_time_of(message_, fabric_), kIdeal);
  EXPECT_EQ(delay()->time, Duration::us(50));
  EXPECT_EQ(delay(us(40))->time, Duration::ns(21'020)) << "no more of it lies behind 40 us";
}

TEST_F(Fate, IsNotLateByAHundredth) {
  be_late(Duration::ns(110));
  EXPECT_FALSE(delay());
  be_late(Duration::ns(111));
  EXPECT_TRUE(delay());
}

TEST_F(Fate, IsLateByAPauseThatIsHalfAsLongAsItsStay) {
  message_.hops[1].stay = Duration::us(40);
  message_.hops[0].paused = Duration::us(20);
  EXPECT_EQ(cause(), WaitCause::kPause);
  message_.hops[0].paused = Duration::us(19);
  EXPECT_EQ(cause(), WaitCause::kQueue);
}

// The first was paused since the last one was.
TEST_F(Fate, IsLateByTheLastOfPausesThatAreAboutAsLong) {
  message_.hops[0].paused = Duration::us(40);
  message_.hops[1].paused = Duration::us(21);
  EXPECT_EQ(place(), (LinkEnd{3, 1}));
  message_.hops[1].paused = Duration::us(20);
  EXPECT_EQ(place(), (LinkEnd{0, 0}));
}

TEST_F(Fate, IsLateByAQueueIfAPacketStayedForHalfOfIt) {
  message_.naks = 1;
  message_.cnps = 1;
  message_.hops[1].stay = Duration::us(25);
  EXPECT_EQ(cause(), WaitCause::kQueue);
  message_.hops[1].stay = Duration::us(24);
  EXPECT_EQ(cause(), WaitCause::kRetransmission);
  message_.naks = 0;
  EXPECT_EQ(cause(), WaitCause::kRateCut);
  message_.cnps = 0;
  EXPECT_EQ(cause(), WaitCause::kQueue);
  message_.hops[1].stay = Duration::ns(2'001);
  EXPECT_EQ(cause(), WaitCause::kQueue) << "more than two packets";
  message_.hops[1].stay = Duration::ns(2'000);
  EXPECT_EQ(cause(), WaitCause::kTransfer);
}

TEST_F(Fate, StoodBeforeItsQueuePairIfItWasUnderWayForLessThanTwice) {
  message_.posted = us(6);
  be_late({});
  EXPECT_EQ(cause(), WaitCause::kPost);
  EXPECT_EQ(delay()->time, Duration::us(6));
  message_.posted = us(5);
  be_late({});
  EXPECT_FALSE(delay());
}

TEST_F(Fate, CountsFromTheOneBeforeIt) {
  message_.message_before = std::make_shared<MessageFate>();
  message_.message_before->arrived = us(20);
  message_.arrived = us(20) + kIdeal;
  EXPECT_FALSE(delay());
  message_.message_before->arrived = us(10);
  EXPECT_EQ(delay()->time, Duration::us(10));
}

TEST_F(Fate, LostItsPacketsBehindThePortThatSentMore) {
  uint64_t lost = 0;
  EXPECT_EQ(lossy_hop_of(message_, lost), nullptr);
  message_.hops[0].packets = 12;
  EXPECT_EQ(lossy_hop_of(message_, lost), message_.hops.data());
  EXPECT_EQ(lost, 2U);
  message_.parts = 2;
  EXPECT_EQ(lossy_hop_of(message_, lost), nullptr) << "parts go different ways";
}

}  // namespace
}  // namespace softspine::control
