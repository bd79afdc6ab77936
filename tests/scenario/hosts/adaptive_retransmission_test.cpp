// SPDX-License-Identifier: Apache-2.0
// When a reliable sender with adaptive_retransmission goes back, and when it gives up.
#include "tests/scenario/hosts/reliable_frames.hpp"

namespace softspine::testbeds {
namespace {

// The first packet's last bit: the first timeout begins.
const Instant kFirstLeft = Instant{} + Rate::gbps(100).time_of_frame(14 + 20 + 8 + 12 + 16 + 1024 + 4);

// As a ConnectX does it, whatever its ack_timeout is: 2, 4, 8, 16 ms. Here up to ack_timeout's 67.1 ms, and to an end
// when 2 × 67.1 ms have passed: 2 + 4 + 8 + 16 + 32 + 64 = 126 ms have not, 193.1 ms have.
TEST(AdaptiveRetransmission, DoublesItsTimeoutsUpToItsCap) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 14;
  flow.reliable.retries = 2;
  flow.reliable.adaptive_retransmission = Duration::ms(2);
  pair.host().add_flow(flow);
  ASSERT_EQ(pair.run(), RunEnd::kIdle);
  Duration waited;
  size_t round = 0;
  for (const int64_t ms : {2, 4, 8, 16, 32, 64}) {
    waited = waited + Duration::ms(ms);
    ASSERT_GT(pair.puppet().heard().size(), 8 * ++round);
    EXPECT_EQ(pair.puppet().heard()[8 * round].started, kFirstLeft + waited) << ms;
  }
  EXPECT_EQ(pair.puppet().heard().size(), 8 * (round + 1));
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 7u);
  EXPECT_EQ(pair.host().sent(0).reliable.retry_exceeded_err, 1u);
}

TEST(AdaptiveRetransmission, BeginsAnewWithProgress) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 14;
  flow.reliable.adaptive_retransmission = Duration::us(50);
  pair.host().add_flow(flow);
  pair.puppet().say(us(200), response(0x1f, 103));  // after the timeouts of 50 and 100 us
  pair.puppet().say(us(300), response(0x1f, 107));
  pair.run();
  EXPECT_EQ(pair.puppet().heard()[8].started, kFirstLeft + Duration::us(50));
  EXPECT_EQ(pair.puppet().heard()[16].started, kFirstLeft + Duration::us(150));
  EXPECT_EQ(pair.puppet().heard()[24].started, pair.arrival(us(200), 62) + Duration::us(50)) << "not 200 us";
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 3u);
}

// 50 and 100 us, and then ack_timeout's 131.072 us, not 200.
TEST(AdaptiveRetransmission, IsNoLongerThanAckTimeout) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 5;
  flow.reliable.adaptive_retransmission = Duration::us(50);
  pair.host().add_flow(flow);
  ASSERT_EQ(pair.run(), RunEnd::kIdle);
  Duration waited;
  size_t round = 0;
  for (const int64_t ns : {50'000, 100'000, 131'072, 131'072, 131'072}) {
    waited = waited + Duration::ns(ns);
    ASSERT_GT(pair.puppet().heard().size(), 8 * ++round);
    EXPECT_EQ(pair.puppet().heard()[8 * round].started, kFirstLeft + waited) << round;
  }
}

// 131.072 us twice are what two retries may take in all: the second timeout is the last.
TEST(AdaptiveRetransmission, EndsWhenItHasWaitedAsLongAsItsRetriesMay) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 5;
  flow.reliable.retries = 2;
  flow.reliable.adaptive_retransmission = Duration::ns(131'072);
  pair.host().add_flow(flow);
  ASSERT_EQ(pair.run(), RunEnd::kIdle);
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 2u);
  EXPECT_EQ(pair.host().sent(0).reliable.retry_exceeded_err, 1u);
}

// 50 and 100 us without progress, then, after progress, 50, 100 and 131.072 us: only these reach 2 x 131.072 us.
TEST(AdaptiveRetransmission, ForgetsWhatItWaitedBeforeProgress) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 5;
  flow.reliable.retries = 2;
  flow.reliable.adaptive_retransmission = Duration::us(50);
  pair.host().add_flow(flow);
  pair.puppet().say(us(200), response(0x1f, 103));
  ASSERT_EQ(pair.run(), RunEnd::kIdle);
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 5u);
  EXPECT_EQ(pair.host().sent(0).reliable.retry_exceeded_err, 1u);
}

TEST(AdaptiveRetransmission, WithoutAnAckTimeoutNeverEnds) {
  HostAndPuppet pair;
  FlowConfig flow = reliable_flow();
  flow.reliable.ack_timeout = 0;
  flow.reliable.retries = 2;
  flow.reliable.adaptive_retransmission = Duration::us(50);
  pair.host().add_flow(flow);
  pair.run(Instant{} + Duration::us(50 * 1023 + 1));  // 50 + 100 + ... + 25,600 us, and what the first packet takes
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 10u);
  EXPECT_EQ(pair.host().sent(0).reliable.retry_exceeded_err, 0u);
}

}  // namespace
}  // namespace softspine::testbeds
