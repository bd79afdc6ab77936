// SPDX-License-Identifier: Apache-2.0
#include "control/steps/step_history.hpp"

#include <gtest/gtest.h>

#include "tests/unit/steps/microseconds.hpp"
#include "tests/unit/steps/star_of_three.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::star_of_three;
using tests::us;

// Rank r is on host r, and flow 3a + b leads from a to b.
class ThreeRanks : public testing::Test {
 protected:
  void computes(uint32_t rank, Instant from, Instant to, OperationKind kind = OperationKind::kCompute) {
    history_.take({.at = to, .job = 0, .rank = rank, .kind = kind, .started = from});
  }
  // Of 918 bytes a packet: a frame of 1,000. Goes its way between `posted` and `arrived`, and is waited for for
  // `alone`.
  struct Sent {
    uint32_t from;
    uint32_t to;
    Instant started;
    Instant posted;
    Instant arrived;
    Duration alone;
    HopRecord source = {};
    HopRecord at_switch = {};
    uint32_t packets = 1;
  };
  void sends(Sent it) {
    const uint64_t number = messages_[it.from * 3 + it.to]++;
    StepRecord record{.at = it.posted,
                      .job = 0,
                      .rank = it.from,
                      .kind = OperationKind::kSend,
                      .is_posted = true,
                      .peer = it.to,
                      .message = number,
                      .bytes = uint64_t{918} * it.packets,
                      .started = it.started,
                      .flow = it.from * 3 + it.to,
                      .packets = it.packets};
    history_.take(record);
    packets_[record.flow] += it.packets;
    for (HopRecord* hop : {&it.source, &it.at_switch}) {
      hop->flow = record.flow;
      hop->psn = packets_[record.flow] - 1;
      hop->port = hop == &it.source ? LinkEnd{it.from, 0} : LinkEnd{3, static_cast<uint16_t>(it.to)};
      history_.take(*hop);
    }
    history_.take({.at = it.arrived,
                   .job = 0,
                   .rank = it.to,
                   .kind = OperationKind::kReceive,
                   .peer = it.from,
                   .message = number,
                   .bytes = record.bytes,
                   .started = it.arrived - it.alone,
                   .alone = it.alone});
    record.at = it.arrived;
    record.is_posted = false;
    history_.take(record);
  }
  WaitReason reason_at(uint32_t rank) const {
    const auto snapshot = history_.snapshot();
    for (const RankSteps& it : snapshot->jobs[0].ranks) {
      if (it.rank == rank) return it.longest.at(0).reason;
    }
    return {};
  }

  Fabric fabric_ = star_of_three();
  StepHistory history_{fabric_, {{"job", false, {0, 1, 2}}}, std::vector<uint32_t>(9)};
  std::array<uint64_t, 9> messages_{};
  std::array<uint32_t, 9> packets_{};
};

TEST_F(ThreeRanks, WaitForTheOneThatComputes) {
  computes(0, us(0), us(100));
  sends({.from = 0, .to = 1, .started = us(100), .posted = us(100), .arrived = us(103), .alone = Duration::us(100)});
  const WaitReason reason = reason_at(1);
  EXPECT_EQ(reason.cause, WaitCause::kCompute);
  EXPECT_EQ(reason.host, "h0");
  EXPECT_EQ(reason.ranks_back, 1U);
  EXPECT_EQ(reason.time, Duration::us(97)) << "the wait began at 3 us";
}

// h2 waits for h1, which waited for h0.
TEST_F(ThreeRanks, FollowTheChainToItsBegin) {
  computes(0, us(0), us(100), OperationKind::kReduce);
  sends({.from = 0, .to = 1, .started = us(100), .posted = us(100), .arrived = us(103), .alone = Duration::us(100)});
  computes(1, us(103), us(110));
  sends({.from = 1, .to = 2, .started = us(110), .posted = us(110), .arrived = us(113), .alone = Duration::us(113)});
  const WaitReason reason = reason_at(2);
  EXPECT_EQ(reason.cause, WaitCause::kReduce);
  EXPECT_EQ(reason.host, "h0");
  EXPECT_EQ(reason.ranks_back, 2U);
}

// The message of h0 was late before h2 began to wait; h1's is not late by itself.
TEST_F(ThreeRanks, AreLateBySomethingBeforeIfNothingElseWasThere) {
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = {},
         .at_switch = {.packets = 1, .stay = Duration::us(45)}});
  sends({.from = 1,
         .to = 2,
         .started = us(50),
         .posted = us(50),
         .arrived = us(50) + Duration::ns(2020),
         .alone = Duration::us(1)});
  const WaitReason reason = reason_at(2);
  EXPECT_EQ(reason.cause, WaitCause::kQueue);
  EXPECT_EQ(reason.port, "tor:p1");
  EXPECT_EQ(reason.ranks_back, 2U);
  EXPECT_EQ(reason.time, Duration::us(1)) << "no longer than the wait";
}

// 48 us are less than the half of 100 us.
TEST_F(ThreeRanks, AreNotLateByWhatWasMuchShorter) {
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = {},
         .at_switch = {.packets = 1, .stay = Duration::us(45)}});
  sends({.from = 1,
         .to = 2,
         .started = us(50),
         .posted = us(50),
         .arrived = us(50) + Duration::ns(101'020),
         .alone = Duration::us(100),
         .packets = 100});
  EXPECT_EQ(reason_at(2).cause, WaitCause::kTransfer);
}

// h0 sends to h2 only after its message to h1 is through, which stood in a queue.
TEST_F(ThreeRanks, WaitForWhatItsSenderSentBefore) {
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = {},
         .at_switch = {.packets = 1, .stay = Duration::us(45)}});
  computes(0, us(50), us(51));
  sends({.from = 0, .to = 2, .started = us(51), .posted = us(51), .arrived = us(53), .alone = Duration::us(53)});
  EXPECT_EQ(reason_at(2).cause, WaitCause::kQueue);
  EXPECT_EQ(reason_at(2).port, "tor:p1");
  EXPECT_EQ(reason_at(2).to_host, "h1");
}

TEST_F(ThreeRanks, WaitForAMessageThatStoodInAQueue) {
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = Duration::us(50),
         .at_switch = {.queue = 3, .packets = 1, .stay = Duration::us(45)}});
  const WaitReason reason = reason_at(1);
  EXPECT_EQ(reason.cause, WaitCause::kQueue);
  EXPECT_EQ(reason.port, "tor:p1");
  EXPECT_EQ(reason.queue, 3);
  EXPECT_EQ(reason.longest_stay, Duration::us(45));
  EXPECT_EQ(reason.time, Duration::us(50) - Duration::ns(2020)) << "a frame on two links of 10 ns";
}

// The host's port was paused by the switch, which the destination paused.
TEST_F(ThreeRanks, WaitForAMessageThatWasPaused) {
  std::vector<PortLook> ports(history_.looks().ports().size());
  ports[history_.looks().ports().of({3, 1})].stopped[3] = Duration::us(44);
  ports[history_.looks().ports().of({0, 0})].stopped[3] = Duration::us(40);
  history_.looks().add(us(60), std::move(ports));
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = Duration::us(50),
         .source = {.priorities = 8, .packets = 1, .paused = Duration::us(40)},
         .at_switch = {.priorities = 8, .packets = 1, .stay = Duration::us(2)}});
  const WaitReason reason = reason_at(1);
  EXPECT_EQ(reason.cause, WaitCause::kPause);
  EXPECT_EQ(reason.port, "h0:eth0");
  EXPECT_EQ(reason.paused_by, (std::vector<std::string>{"tor", "h1"}));
  EXPECT_EQ(reason.congested_port, "");
  EXPECT_EQ(history_.snapshot()->jobs[0].causes.at(0).root, "h1");
}

// As above, but the switch's port was full, not paused.
TEST_F(ThreeRanks, WaitForThePortThatMadeASwitchPause) {
  std::vector<PortLook> ports(history_.looks().ports().size());
  ports[history_.looks().ports().of({3, 1})].longest_stay = Duration::us(30);
  history_.looks().add(us(60), std::move(ports));
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = Duration::us(50),
         .source = {.priorities = 8, .packets = 1, .paused = Duration::us(40)}});
  const WaitReason reason = reason_at(1);
  EXPECT_EQ(reason.paused_by, std::vector<std::string>{"tor"});
  EXPECT_EQ(reason.congested_port, "tor:p1");
  EXPECT_EQ(reason.congested_stay, Duration::us(30));
  EXPECT_EQ(history_.snapshot()->jobs[0].causes.at(0).root, "tor:p1");
}

// p2 was full before the message was posted: that paused others.
TEST_F(ThreeRanks, AskWhoPausedWhileTheMessageWasUnderWay) {
  std::vector<PortLook> ports(history_.looks().ports().size());
  ports[history_.looks().ports().of({3, 2})].longest_stay = Duration::us(40);
  history_.looks().add(us(10), ports);
  ports[history_.looks().ports().of({3, 2})].longest_stay = {};
  ports[history_.looks().ports().of({3, 1})].longest_stay = Duration::us(30);
  history_.looks().add(us(60), std::move(ports));
  sends({.from = 0,
         .to = 1,
         .started = us(20),
         .posted = us(20),
         .arrived = us(70),
         .alone = Duration::us(50),
         .source = {.priorities = 8, .packets = 1, .paused = Duration::us(40)}});
  EXPECT_EQ(reason_at(1).congested_port, "tor:p1");
}

// Both parts pass a port that is paused for 30 us.
TEST_F(ThreeRanks, CountAPauseOnceForAllPartsOfAMessage) {
  StepRecord record{.at = us(0), .rank = 0, .kind = OperationKind::kSend, .is_posted = true, .peer = 1, .bytes = 918};
  record.packets = 1;
  for (record.flow = 1; record.flow < 3; ++record.flow) {
    history_.take(record);
    history_.take({.at = us(40), .flow = record.flow, .psn = 0, .port = {3, 1}, .paused = Duration::us(30)});
  }
  history_.take({.at = us(50), .rank = 1, .kind = OperationKind::kReceive, .peer = 0, .alone = Duration::us(50)});
  EXPECT_EQ(reason_at(1).cause, WaitCause::kPause);
  EXPECT_EQ(reason_at(1).paused, Duration::us(30));
}

TEST_F(ThreeRanks, WaitForWhatWasLostCutOrPostedLate) {
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = Duration::us(50),
         .source = {.packets = 3, .retransmitted_packets = 2, .timeouts = 1},
         .at_switch = {.packets = 1}});
  EXPECT_EQ(reason_at(1).cause, WaitCause::kRetransmission);
  EXPECT_EQ(reason_at(1).lost_behind, "h0:eth0");
  EXPECT_EQ(reason_at(1).lost_packets, 2U);
  sends({.from = 1,
         .to = 2,
         .started = us(0),
         .posted = us(0),
         .arrived = us(50),
         .alone = Duration::us(50),
         .source = {.packets = 1, .cnps = 3}});
  EXPECT_EQ(reason_at(2).cause, WaitCause::kRateCut);
  EXPECT_EQ(reason_at(2).cnps, 3U);
  sends({.from = 1, .to = 0, .started = us(0), .posted = us(48), .arrived = us(51), .alone = Duration::us(50)});
  EXPECT_EQ(reason_at(0).cause, WaitCause::kPost);
  EXPECT_EQ(reason_at(0).time, Duration::us(47));
}

TEST_F(ThreeRanks, WaitForBytesIfNothingElseWasThere) {
  sends({.from = 0,
         .to = 1,
         .started = us(0),
         .posted = us(0),
         .arrived = Instant::at(Duration::ns(2020)),
         .alone = Duration::ns(2020)});
  EXPECT_EQ(reason_at(1).cause, WaitCause::kTransfer);
  EXPECT_EQ(reason_at(1).host, "h0");
}

TEST_F(ThreeRanks, KeepTheLongestWaits) {
  for (const int64_t wait : {5, 9, 2, 8, 7, 6})
    sends({.from = 0, .to = 1, .started = us(0), .posted = us(0), .arrived = us(100), .alone = Duration::us(wait)});
  const auto snapshot = history_.snapshot();
  const RankSteps& rank = snapshot->jobs[0].ranks[1];
  EXPECT_EQ(rank.waits, 6U);
  EXPECT_EQ(rank.waited, Duration::us(37));
  ASSERT_EQ(rank.longest.size(), StepHistory::kLongest);
  EXPECT_EQ(rank.longest[0].to - rank.longest[0].from, Duration::us(9));
  EXPECT_EQ(rank.longest[3].to - rank.longest[3].from, Duration::us(6));
}

}  // namespace
}  // namespace softspine::control
