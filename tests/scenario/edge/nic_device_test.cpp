// SPDX-License-Identifier: Apache-2.0
// The NIC before a device whose outside is this test: what a paused host keeps in its ring, and what a host that does
// not take its frames leads to. On a clock moved by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/scenario/edge/drops.hpp"
#include "tests/scenario/edge/nic_bench.hpp"

namespace softspine::dataplane {
namespace {

using tests::total;

using NicDeviceTest = NicBench;

TEST_F(NicDeviceTest, LeavesThePausedHostsFramesInItsRingAndLosesNone) {
  build(nic_config());
  peer_sends(pfc_frame(kPeer, 0x08, 0xffff));  // 33.6 ms at 1 Gb/s
  run_on(Duration::us(20));
  for (uint16_t i = 0; i < 200; ++i) ASSERT_TRUE(outside->bring(*pool, numbered_ip_frame(3, i)));
  run_on(Duration::ms(5));
  EXPECT_TRUE(probe->arrivals().empty());
  EXPECT_EQ(outside->untaken(), 168U);  // a burst is past the horizon of 50 µs
  EXPECT_EQ(edge->waiting_packets(), 32U);
  EXPECT_GT(edge->counters().pauses, 0U);
  EXPECT_GE(edge->flow_control().pauses().paused_time(Priority{3}, engine->now()), Duration::us(4'980));
  peer_sends(pfc_frame(kPeer, 0x08, 0));
  run_on(Duration::ms(5));
  std::vector<uint16_t> all(200);
  std::iota(all.begin(), all.end(), uint16_t{0});
  EXPECT_EQ(numbers_seen(), all);
  EXPECT_EQ(edge->counters().in_packets, 200U);
  EXPECT_EQ(total(edge->counters().in_drops), 0U);
}

TEST_F(NicDeviceTest, LetsOtherPrioritiesPassAPausedOne) {
  build(nic_config());
  peer_sends(pfc_frame(kPeer, 0x08, 0xffff));
  run_on(Duration::us(20));
  for (uint16_t i = 0; i < 6; ++i) ASSERT_TRUE(outside->bring(*pool, numbered_ip_frame(i < 3 ? 3 : 0, i, 200)));
  run_on(Duration::ms(1));
  EXPECT_EQ(numbers_seen(), (std::vector<uint16_t>{3, 4, 5}));
  run_on(Duration::ms(40));  // the pause runs out
  EXPECT_EQ(numbers_seen(), (std::vector<uint16_t>{3, 4, 5, 0, 1, 2}));
}

TEST_F(NicDeviceTest, SendsInTheOrderOfTheRingWhateverThePriorities) {
  build(nic_config());
  std::vector<uint16_t> all;
  for (uint16_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(outside->bring(*pool, numbered_ip_frame(i % 3 == 0 ? 3 : 0, i, 200)));
    all.push_back(i);
  }
  run_on(Duration::ms(1));
  EXPECT_EQ(numbers_seen(), all);
}

TEST_F(NicDeviceTest, SaysXoffWhenItsHostStallsAndLosesNothingOnceItGoesOn) {
  NicConfig config = nic_config();
  config.xoff_bytes = 20'000;
  config.xon_bytes = 10'000;
  build(config, 16);  // the host takes 15 frames
  for (uint16_t i = 0; i < 60; ++i) peer_sends(numbered_ip_frame(3, i));
  run_on(Duration::ms(1));
  ASSERT_EQ(pauses_seen().size(), 1U);
  EXPECT_EQ(pauses_seen()[0], pfc_frame(kOwn, 0x08, 0xffff));
  EXPECT_EQ(edge->flow_control().raised_xoff(), 0x08);
  // 15 taken, 14 × 1500 are more than 20,000: the frame goes with the 29th's last bit.
  const Duration frame = Duration::ps(1524 * 8'000);
  EXPECT_EQ(probe->arrivals()[0].at,
            Instant{} + frame * 29 + Duration::us(1) + Duration::ps(84 * 8'000) + Duration::us(1));
  run_on(Duration::ms(18));  // half of 33.6 ms
  EXPECT_EQ(pauses_seen().size(), 2U);
  uint16_t next = 0;
  for (int i = 0; i < 20; ++i) {
    while (const auto taken = outside->take()) EXPECT_EQ(number_in(*taken), next++);
    run_on(Duration::us(100));
  }
  EXPECT_EQ(next, 60);
  EXPECT_EQ(pauses_seen().back(), pfc_frame(kOwn, 0x08, 0));
  EXPECT_EQ(edge->flow_control().raised_xoff(), 0);
  EXPECT_EQ(total(edge->counters().out_drops), 0U);
}

TEST_F(NicDeviceTest, EndsPauseFramesAndHandsTheRestToItsHost) {
  build(nic_config());
  peer_sends(pfc_frame(kPeer, 0x08, 7));
  peer_sends(numbered_ip_frame(3, 5));
  run_on(Duration::us(100));
  const auto taken = outside->take();
  ASSERT_TRUE(taken);
  EXPECT_EQ(*taken, numbered_ip_frame(3, 5));
  EXPECT_FALSE(outside->take());
  EXPECT_EQ(edge->counters().out_packets, 1U);
  EXPECT_EQ(edge->counters().out_drops[static_cast<size_t>(DropReason::kPfcConsumed)], 1U);
}

TEST_F(NicDeviceTest, ForgetsPausesWithTheLinkAndSaysItsOwnAgainWhenItIsBack) {
  NicConfig config = nic_config();
  config.xoff_bytes = 3'000;
  config.xon_bytes = 1'000;
  build(config, 16);
  for (uint16_t i = 0; i < 30; ++i) peer_sends(numbered_ip_frame(3, i));
  peer_sends(pfc_frame(kPeer, 0x08, 0xffff));
  run_on(Duration::ms(1));
  ASSERT_TRUE(outside->bring(*pool, numbered_ip_frame(3, 77)));
  run_on(Duration::us(100));
  EXPECT_TRUE(numbers_seen().empty());
  const size_t said = pauses_seen().size();
  engine->set_link({edge->id(), PortNo{0}}, false, engine->now());
  engine->set_link({edge->id(), PortNo{0}}, true, engine->now());
  run_on(Duration::us(100));
  EXPECT_EQ(numbers_seen(), std::vector<uint16_t>{77});
  ASSERT_EQ(pauses_seen().size(), said + 1);
  EXPECT_EQ(pauses_seen().back(), pfc_frame(kOwn, 0x08, 0xffff));
}

}  // namespace
}  // namespace softspine::dataplane
