// SPDX-License-Identifier: Apache-2.0
// What a requester notes of its waits for the window.
#include <tuple>

#include "testbeds/hosts/reliable_sender.hpp"
#include "tests/scenario/hosts/puppet.hpp"

namespace softspine::testbeds {
namespace {

// Messages of eight packets, from PSN 100 on.
FlowConfig windowed_flow() {
  FlowConfig flow = flow_config();
  flow.transport = TransportKind::kReliable;
  flow.mtu = 1024;
  flow.message_bytes = 8 * 1024;
  flow.first_psn = 100;
  flow.reliable.ack_every = 1;
  return flow;
}

RoceFrame acknowledgement_of(uint32_t psn) {
  RoceFrame frame{};
  frame.psn = psn;
  return frame;
}

// Four packets are under way at 4 us; the acknowledgement of the first comes at 10 us, of the others at 12 us.
TEST(Window, WaitsForItAreCountedWithTheirTime) {
  FlowConfig flow = windowed_flow();
  flow.rate = Rate{};
  flow.messages = 0;
  flow.reliable.window = 4;
  FlowSent counters;
  Histogram times;
  ReliableSender sender(0, flow, Rate::gbps(100));
  for (int64_t i = 0; i < 4; ++i) sender.sent(us(i), us(i + 1), 1'100, counters);
  EXPECT_TRUE(sender.eligible(us(5)).is_never());
  sender.acknowledge(acknowledgement_of(100), us(10), counters, times);
  EXPECT_EQ(counters.reliable.window_waits, 1U);
  EXPECT_EQ(counters.reliable.window_wait_ps, 6'000'000U);
  sender.acknowledge(acknowledgement_of(103), us(12), counters, times);
  EXPECT_EQ(counters.reliable.window_waits, 1U) << "there was room";
}

// At 2.2 Gb/s a frame of 1,100 bytes has 4 us. The fourth begins at 12 us, so the pace holds the fifth until 16 us.
TEST(Window, OfAPacedSenderCountsFromWhenItsPaceWouldLetItGo) {
  FlowConfig flow = windowed_flow();
  flow.rate = Rate::mbps(2'200);
  flow.messages = 0;
  flow.reliable.window = 4;
  for (const auto& [acknowledged, waits, time] : {std::tuple{15, 0U, 0}, {16, 0U, 0}, {20, 1U, 4}}) {
    SCOPED_TRACE(acknowledged);
    FlowSent counters;
    Histogram times;
    ReliableSender sender(0, flow, Rate::gbps(100));
    for (int64_t i = 0; i < 4; ++i) sender.sent(us(4 * i), us(4 * i + 1), 1'100, counters);
    sender.acknowledge(acknowledgement_of(100), us(acknowledged), counters, times);
    EXPECT_EQ(counters.reliable.window_waits, waits);
    EXPECT_EQ(counters.reliable.window_wait_ps, static_cast<uint64_t>(time) * 1'000'000);
  }
}

TEST(Window, WhoHasNoMoreToSendDoesNotWaitForIt) {
  FlowConfig flow = windowed_flow();
  flow.rate = Rate{};
  flow.messages = 1;
  flow.reliable.window = 8;
  FlowSent counters;
  Histogram times;
  ReliableSender sender(0, flow, Rate::gbps(100));
  for (int64_t i = 0; i < 8; ++i) sender.sent(us(i), us(i + 1), 1'100, counters);
  sender.acknowledge(acknowledgement_of(107), us(20), counters, times);
  EXPECT_EQ(counters.reliable.completed_messages, 1U);
  EXPECT_EQ(counters.reliable.window_waits, 0U);
}

// Messages of one packet, 10 us apart. The first is lost, and leaves again at 140 us.
TEST(Window, AMessageThatIsSentAgainHasNoOtherGap) {
  FlowConfig flow = windowed_flow();
  flow.rate = Rate{};
  flow.message_bytes = 1024;
  flow.messages = 0;
  flow.gap = Duration::us(10);
  FlowSent counters;
  ReliableSender sender(0, flow, Rate::gbps(100));
  EXPECT_TRUE(sender.sent(us(0), us(1), 1'100, counters));
  EXPECT_EQ(sender.eligible(us(2)), us(11));
  sender.time_out(us(140), counters);
  EXPECT_FALSE(sender.sent(us(140), us(141), 1'100, counters)) << "not for the first time";
  EXPECT_EQ(counters.reliable.retransmitted_packets, 1U);
  EXPECT_LE(sender.eligible(us(142)), us(142)) << "the gap is behind the message's first packets";
}

}  // namespace
}  // namespace softspine::testbeds
