// SPDX-License-Identifier: Apache-2.0
// DCQCN in the NIC of a host that has none, and what a NIC writes into its host's packets. The host is this test,
// behind a device; the peer is a script. Its queue pairs: 0x100 here with 0x200 there, 0x101 with 0x201.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/scenario/edge/nic_bench.hpp"

namespace softspine::dataplane {
namespace {

constexpr Duration kFrame = Duration::ps((1058 + 24) * 8'000);  // of 1000 bytes payload, at 1 Gb/s

class NicCongestionTest : public NicBench {
 protected:
  static NicConfig reacting(const ReactionParameters& parameters = ReactionParameters::paper()) {
    NicConfig config = nic_config();
    config.parameters.congestion_control = parameters;
    return config;
  }
  // A request of the peer and the host's answer: from then on the NIC knows who goes with whom.
  void meet(uint32_t qp, uint32_t peer_qp, uint32_t psn) {
    peer_sends(rc_frame({.qp = qp, .psn = psn, .from_peer = true}));
    run_on(Duration::us(50));
    host_sends(ack_frame(peer_qp, psn, false));
    run_on(Duration::us(50));
  }
  // CNPs are of priority 6, which the peer has just paused.
  void pause_cnps() {
    NicConfig config = reacting();
    config.pfc_enable = 1 << 3 | 1 << 6;
    config.priority_of_dscp[48] = 6;
    build(config);
    meet(0x100, 0x200, 6);
    peer_sends(pfc_frame(kPeer, 1 << 6, 0xffff));
  }
  std::vector<Instant> begins_of(uint32_t qp) const {
    std::vector<Instant> out;
    for (const Probe::Arrival& it : probe->arrivals()) {
      if (opcode_in(it.bytes) == 0x0a && qp_in(it.bytes) == qp) out.push_back(it.at - Duration::us(1) - kFrame);
    }
    return out;
  }
  std::vector<Bytes> cnps_seen() const {
    std::vector<Bytes> out;
    for (const Probe::Arrival& it : probe->arrivals()) {
      if (opcode_in(it.bytes) == 0x81) out.push_back(it.bytes);
    }
    return out;
  }
};

TEST_F(NicCongestionTest, AnswersMarkedPacketsWithOneCnpAnIntervalAndQueuePair) {
  build(reacting());
  meet(0x100, 0x200, 7'000);
  meet(0x101, 0x201, 900'000);
  const size_t before = probe->arrivals().size();
  const Instant begin = engine->now();
  constexpr uint8_t kMarked = 3 << 2 | 3;
  for (uint32_t i = 0; i < 100; ++i) {
    const bool first = i % 2 == 0;
    peer_sends(rc_frame(
        {.qp = first ? 0x100U : 0x101U, .psn = (first ? 7'001 : 900'001) + i, .tos = kMarked, .from_peer = true}));
  }
  run_on(Duration::ms(2));
  // Frames are 8.656 µs long, so each queue pair hears one every 17.312 µs: the fourth is the first at least 50 µs
  // later.
  std::array<std::vector<Instant>, 2> told;
  for (size_t i = before; i < probe->arrivals().size(); ++i) {
    const Probe::Arrival& it = probe->arrivals()[i];
    ASSERT_EQ(opcode_in(it.bytes), 0x81);
    const bool first = qp_in(it.bytes) == 0x200;
    EXPECT_EQ(it.bytes, cnp_frame(first ? 0x200 : 0x201, false));
    told[first ? 0 : 1].push_back(it.at);
  }
  for (size_t pair = 0; pair < 2; ++pair) {
    EXPECT_EQ(told[pair].size(), 17U);  // 50 marks, every third
    for (size_t i = 0; i < told[pair].size(); ++i) {
      const Instant marked = begin + kFrame * static_cast<int64_t>(pair + 1 + 6 * i) + Duration::us(1);
      EXPECT_EQ(told[pair][i], marked + Duration::ps((74 + 24) * 8'000) + Duration::us(1)) << i;
    }
  }
  EXPECT_EQ(edge->nic_counters().np_ecn_marked_roce_packets, 100U);
  EXPECT_EQ(edge->nic_counters().np_cnp_sent, 34U);
  EXPECT_EQ(edge->nic_counters().np_cnp_unknown, 0U);
  EXPECT_EQ(edge->nic_counters().made_packets, 34U);
  uint32_t delivered = 0;
  while (outside->take()) ++delivered;
  EXPECT_EQ(delivered, 102U);  // the host gets every packet
}

TEST_F(NicCongestionTest, CountsMarksWhoseSenderItDoesNotKnowAndAnswersNothingUnmarked) {
  build(reacting());
  peer_sends(rc_frame({.qp = 0x100, .psn = 5, .tos = 3 << 2 | 3, .from_peer = true}));
  run_on(Duration::us(50));
  EXPECT_EQ(edge->nic_counters().np_cnp_unknown, 1U);
  meet(0x100, 0x200, 6);
  peer_sends(rc_frame({.qp = 0x100, .psn = 7, .from_peer = true}));
  run_on(Duration::us(100));
  EXPECT_TRUE(cnps_seen().empty());
  EXPECT_EQ(edge->nic_counters().np_ecn_marked_roce_packets, 1U);
}

TEST_F(NicCongestionTest, ACnpLeavesTheNicsDelayAfterTheMarkedPacket) {
  ReactionParameters parameters = ReactionParameters::paper();
  parameters.nic_delay = Duration::us(70);
  build(reacting(parameters));
  meet(0x100, 0x200, 7'000);
  const size_t before = probe->arrivals().size();
  const Instant begin = engine->now();
  for (uint32_t i = 0; i < 10; ++i) {
    peer_sends(rc_frame({.qp = 0x100, .psn = 7'001 + i, .tos = 3 << 2 | 3, .from_peer = true}));
  }
  run_on(Duration::us(60));
  EXPECT_EQ(probe->arrivals().size(), before);
  host_sends(rc_frame({.qp = 0x200, .psn = 1}));  // what the host sends does not wait for the CNP
  run_on(Duration::us(400));
  std::vector<Instant> cnps;
  for (size_t i = before; i < probe->arrivals().size(); ++i) {
    if (opcode_in(probe->arrivals()[i].bytes) == 0x81) cnps.push_back(probe->arrivals()[i].at);
  }
  // A frame lasts 8.656 µs: the seventh is the first at least 50 µs behind the first.
  const Duration rest = Duration::us(1) + Duration::us(70) + Duration::ps((74 + 24) * 8'000) + Duration::us(1);
  EXPECT_EQ(cnps, (std::vector{begin + kFrame + rest, begin + kFrame * 7 + rest}));
  EXPECT_EQ(edge->nic_counters().np_cnp_sent, 2U);
}

// Congestion control needs no PFC beside it.
TEST_F(NicCongestionTest, AnswersMarksThoughNoPriorityIsLossless) {
  NicConfig config = reacting();
  config.pfc_enable = 0;
  build(config);
  meet(0x100, 0x200, 6);
  peer_sends(rc_frame({.qp = 0x100, .psn = 7, .tos = 3 << 2 | 3, .from_peer = true}));
  run_on(Duration::us(50));
  EXPECT_EQ(cnps_seen().size(), 1U);
}

// RFC 3168: 01 is ECT(1), and no mark.
TEST_F(NicCongestionTest, TakesEct1ForNoMark) {
  build(reacting());
  meet(0x100, 0x200, 6);
  for (uint32_t i = 0; i < 3; ++i) {
    peer_sends(rc_frame({.qp = 0x100, .psn = 7 + i, .tos = static_cast<uint8_t>(3 << 2 | i), .from_peer = true}));
  }
  run_on(Duration::us(200));
  EXPECT_TRUE(cnps_seen().empty());
  EXPECT_EQ(edge->nic_counters().np_ecn_marked_roce_packets, 0U);
}

// What the host sends in another priority passes them meanwhile.
TEST_F(NicCongestionTest, CnpsOfAPausedPriorityWait) {
  pause_cnps();
  run_on(Duration::us(300));  // its response: 2 quanta of 512 ns
  peer_sends(rc_frame({.qp = 0x100, .psn = 7, .tos = 3 << 2 | 3, .from_peer = true}));
  run_on(Duration::us(50));
  for (uint16_t i = 0; i < 4; ++i) host_sends(numbered_ip_frame(0, i));
  run_on(Duration::us(200));
  EXPECT_EQ(edge->nic_counters().np_cnp_sent, 1U);
  EXPECT_TRUE(cnps_seen().empty());
  EXPECT_EQ(probe->arrivals().back().bytes[13], 0x00) << "the host's own have gone";
  peer_sends(pfc_frame(kPeer, 1 << 6, 0));
  run_on(Duration::us(50));
  EXPECT_EQ(cnps_seen().size(), 1U);
}

// A short marked packet comes right behind a pause: its CNP is on the link when the pause takes effect.
TEST_F(NicCongestionTest, StandsStillWhenItsCnpIsOut) {
  pause_cnps();
  peer_sends(rc_frame({.qp = 0x100, .psn = 7, .tos = 3 << 2 | 3, .from_peer = true, .payload = 4}));
  run_on(Duration::us(50));
  ASSERT_EQ(cnps_seen().size(), 1U);
  const Instant left = probe->arrivals().back().at - Duration::us(1);
  const PauseState& pauses = edge->flow_control().pauses();
  EXPECT_GT(pauses.paused_time(Priority{6}, engine->now()), engine->now() - left) << "it was leaving";
  EXPECT_EQ(pauses.stopped_time(Priority{6}, engine->now()), engine->now() - left);
}

TEST_F(NicCongestionTest, HoldsAQueuePairToItsRateAndLeavesOthersAlone) {
  ReactionParameters parameters = ReactionParameters::paper();
  parameters.time_reset = Duration::s(1);  // nothing grows within the test
  build(reacting(parameters));
  host_sends(rc_frame({.qp = 0x200, .psn = 50}));
  host_sends(rc_frame({.qp = 0x201, .psn = 800'000}));
  run_on(Duration::us(50));
  peer_sends(ack_frame(0x100, 50, true));
  peer_sends(ack_frame(0x101, 800'000, true));
  run_on(Duration::us(50));
  for (int i = 0; i < 3; ++i) peer_sends(cnp_frame(0x100, true));
  run_on(Duration::us(10));
  const Instant cut = engine->now();
  for (uint32_t i = 0; i < 8; ++i) host_sends(rc_frame({.qp = 0x200, .psn = 51 + i}));
  for (uint32_t i = 0; i < 8; ++i) host_sends(rc_frame({.qp = 0x201, .psn = 800'001 + i}));
  run_on(Duration::ms(1));
  EXPECT_EQ(edge->nic_counters().rp_cnp_handled, 3U);
  EXPECT_EQ(edge->nic_counters().rp_cnp_ignored, 0U);
  // 125 Mb/s: eight frames' times each, but for what the bucket has let out since the cut, and a frame on the wire.
  const auto cut_begins = begins_of(0x200);
  ASSERT_EQ(cut_begins.size(), 9U);
  EXPECT_EQ(cut_begins[1], cut + Duration::us(10));  // the poll
  EXPECT_GE(cut_begins[8] - cut_begins[3], kFrame * 39);
  EXPECT_LE(cut_begins[8] - cut_begins[3], kFrame * 41);
  // Beside the few of the cut one, at the link's rate.
  const auto free_begins = begins_of(0x201);
  ASSERT_EQ(free_begins.size(), 9U);
  EXPECT_LE(free_begins[8] - cut_begins[1], kFrame * 11);
  EXPECT_GT(edge->nic_counters().held_by_rate, 4U);
  EXPECT_EQ(edge->kept_packets(), 0U);
  while (const auto taken = outside->take()) EXPECT_EQ(opcode_in(*taken), 0x11);  // it never hears of CNPs
}

TEST_F(NicCongestionTest, CutsWithEveryCnp) {
  // Nothing grows within the test: so n CNPs leave 2^-n of the rate, α being 1 all the time.
  ReactionParameters parameters = ReactionParameters::paper();
  parameters.time_reset = Duration::s(1);
  parameters.alpha_timer = Duration::s(1);
  build(reacting(parameters));
  host_sends(rc_frame({.qp = 0x200, .psn = 50}));
  run_on(Duration::us(50));
  peer_sends(ack_frame(0x100, 50, true));
  run_on(Duration::us(50));
  for (int i = 0; i < 3; ++i) peer_sends(cnp_frame(0x100, true));
  run_on(Duration::us(100));
  for (uint32_t i = 0; i < 40; ++i) host_sends(rc_frame({.qp = 0x200, .psn = 51 + i}));
  run_on(Duration::ms(5));
  const auto begins = begins_of(0x200);
  ASSERT_EQ(begins.size(), 41U);
  for (size_t i = 20; i + 1 < begins.size(); ++i) EXPECT_EQ(begins[i + 1] - begins[i], kFrame * 8) << i;
  EXPECT_EQ(edge->nic_counters().rp_cnp_handled, 3U);
}

TEST_F(NicCongestionTest, EndsCnpsThatItKnowsNothingOf) {
  build(reacting());
  peer_sends(cnp_frame(0x100, true));
  run_on(Duration::us(50));
  EXPECT_FALSE(outside->take());
  EXPECT_EQ(edge->nic_counters().rp_cnp_ignored, 1U);
  EXPECT_EQ(edge->counters().out_drops[static_cast<size_t>(DropReason::kConsumed)], 1U);
}

TEST_F(NicCongestionTest, IsDeafAndDumbIfItWasNotAsked) {
  build(nic_config());
  peer_sends(rc_frame({.qp = 0x100, .psn = 5, .tos = 3 << 2 | 3, .from_peer = true}));
  peer_sends(cnp_frame(0x100, true));
  run_on(Duration::us(100));
  EXPECT_TRUE(probe->arrivals().empty());
  EXPECT_TRUE(outside->take() && outside->take());  // both are the host's business
}

TEST_F(NicCongestionTest, HoldsTheRingWhenTooMuchWaitsForRates) {
  ReactionParameters parameters = ReactionParameters::paper();
  parameters.time_reset = Duration::s(1);
  build(reacting(parameters), 2048);
  host_sends(rc_frame({.qp = 0x200, .psn = 50}));
  run_on(Duration::us(50));
  peer_sends(ack_frame(0x100, 50, true));
  run_on(Duration::us(50));
  for (int i = 0; i < 12; ++i) peer_sends(cnp_frame(0x100, true));
  run_on(Duration::us(100));
  for (uint32_t i = 0; i < 1500; ++i) ASSERT_TRUE(host_sends(rc_frame({.qp = 0x200, .psn = 51 + i})));
  run_on(Duration::ms(30));
  EXPECT_GT(edge->kept_packets(), 900U);
  EXPECT_LE(edge->kept_packets(), 1024U + 128);  // a poll beyond the most
  EXPECT_GT(outside->untaken(), 300U);
}

TEST_F(NicCongestionTest, WritesDscpAndSourcePortIntoItsHostsPacketsWithTheRightChecksums) {
  NicConfig config = nic_config();
  config.parameters.dscp = 4;
  config.parameters.source_port = 49'152;
  build(config);
  const Bytes sent = rc_frame({.tos = 0 << 2 | 2, .source_port = 61'111});
  Bytes broken = sent;
  broken.back() ^= 1;
  const Bytes other = numbered_ip_frame(0, 9, 200);  // UDP, and not RoCE
  host_sends(sent);
  host_sends(broken);
  host_sends(other);
  run_on(Duration::us(100));
  ASSERT_EQ(probe->arrivals().size(), 3U);
  EXPECT_EQ(probe->arrivals()[0].bytes, rc_frame({.tos = 4 << 2 | 2, .source_port = 49'152}));
  const Bytes& still_broken = probe->arrivals()[1].bytes;
  EXPECT_NE(icrc_due(still_broken), Bytes(still_broken.end() - 4, still_broken.end()));
  EXPECT_EQ(probe->arrivals()[2].bytes, other);
}

}  // namespace
}  // namespace softspine::dataplane
