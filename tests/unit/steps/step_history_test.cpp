// SPDX-License-Identifier: Apache-2.0
#include "control/steps/step_history.hpp"

#include <gtest/gtest.h>

#include "tests/unit/steps/microseconds.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;
using tests::us;

// Hosts 0, 1 and 2 at ports 0, 1 and 2 of switch 3.
Fabric star_of_three() {
  Fabric out;
  for (uint32_t n = 0; n < 4; ++n) {
    FabricNode& node = out.nodes.emplace_back();
    node.name = n < 3 ? "h" + std::to_string(n) : "tor";
    node.kind = n < 3 ? NodeKind::kHost : NodeKind::kSwitch;
  }
  for (uint16_t n = 0; n < 3; ++n) {
    out.nodes[n].ports = {{.name = "eth0", .mac = {}, .link = n}};
    out.nodes[3].ports.push_back({.name = "p" + std::to_string(n), .mac = {}, .link = n});
    FabricLink& link = out.links.emplace_back();
    link.a = {n, 0};
    link.b = {3, n};
    link.rate = Rate::gbps(8);  // a nanosecond a byte
    link.propagation = Duration::ns(10);
  }
  return out;
}

// Rank r is on host r, and flow 3a + b leads from a to b.
class ThreeRanks : public testing::Test {
 protected:
  void computes(uint32_t rank, Instant from, Instant to, OperationKind kind = OperationKind::kCompute) {
    history_.take({.at = to, .job = 0, .rank = rank, .kind = kind, .started = from});
  }
  // Of 918 bytes: a frame of 1,000. Goes its way between `posted` and `arrived`, and is waited for for `alone`.
  struct Sent {
    uint32_t from;
    uint32_t to;
    Instant started;
    Instant posted;
    Instant arrived;
    Duration alone;
    HopRecord source = {};
    HopRecord at_switch = {};
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
                      .bytes = 918,
                      .started = it.started,
                      .flow = it.from * 3 + it.to,
                      .packets = 1};
    history_.take(record);
    for (HopRecord* hop : {&it.source, &it.at_switch}) {
      hop->flow = record.flow;
      hop->psn = static_cast<uint32_t>(number);
      hop->port = hop == &it.source ? LinkEnd{it.from, 0} : LinkEnd{3, static_cast<uint16_t>(it.to)};
      history_.take(*hop);
    }
    history_.take({.at = it.arrived,
                   .job = 0,
                   .rank = it.to,
                   .kind = OperationKind::kReceive,
                   .peer = it.from,
                   .message = number,
                   .bytes = 918,
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
  std::vector<PortLook> ports(history_.looks().count());
  ports[history_.looks().index_of({3, 1})].stopped[3] = Duration::us(44);
  ports[history_.looks().index_of({0, 0})].stopped[3] = Duration::us(40);
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
}

// As above, but the switch's port was full, not paused.
TEST_F(ThreeRanks, WaitForThePortThatMadeASwitchPause) {
  std::vector<PortLook> ports(history_.looks().count());
  ports[history_.looks().index_of({3, 1})].longest_stay = Duration::us(30);
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
