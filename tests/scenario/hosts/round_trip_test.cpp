// SPDX-License-Identifier: Apache-2.0
// Which round-trip times a requester measures, by what TIMELY makes of them: RTTs above T_high cut the rate by a
// closed formula. The acknowledgements are the puppet's, so every RTT is known to the picosecond.
#include "tests/scenario/hosts/puppet.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kAckBytes = 62;

// Messages of 8 packets; each message's last packet asks.
FlowConfig timely_flow(uint64_t messages) {
  FlowConfig flow = flow_config();
  flow.transport = TransportKind::kReliable;
  flow.mtu = 1024;
  flow.message_bytes = 8 * 1024;
  flow.messages = messages;
  flow.reliable.ack_timeout = 5;  // 131 us
  flow.reliable.congestion_control = TimelyParameters{.t_low = Duration::us(1), .t_high = Duration::us(2)};
  return flow;
}
Bytes ack(uint32_t psn) {
  SinkConfig sink{.qp = 200};
  sink.transport = TransportKind::kReliable;
  sink.source = host_config(1).ipv4;
  sink.source_qp = timely_flow(1).source_qp;
  Bytes bytes(kTemplateBytes);
  bytes.resize(ResponseTemplate{host_config(2), sink}.write_ack(bytes.data(), 0x1f, psn, 0));
  return bytes;
}
uint64_t rate_of(HostAndPuppet& pair) {
  return pair.host().sender(0)->limiter().control().rate_bps();
}
// 100 Gb/s x (1 - 0.8 x (1 - 2 us / RTT)).
double cut_of(double rate, Duration rtt) {
  return rate * (1 - 0.8 * (1 - 2e-6 / rtt.seconds()));
}
Instant last_bit_out(HostAndPuppet& pair, size_t packet) {
  return Instant::at_ps((pair.puppet().heard()[packet].at - Instant{}).count_ps() -
                        HostAndPuppet::kPropagation.count_ps());
}

// `messages` are sent, and after 20 us one acknowledgement comes, of packet `number`.
void expect_round_trip_of(uint32_t number, uint64_t messages) {
  HostAndPuppet pair;
  pair.host().add_flow(timely_flow(messages));
  pair.puppet().say(us(20), ack(number));
  pair.run();
  const Duration rtt = pair.arrival(us(20), kAckBytes) - last_bit_out(pair, number);
  EXPECT_NEAR(static_cast<double>(rate_of(pair)), cut_of(100e9, rtt), 2);
}

TEST(RoundTripTime, RunsFromTheLastBitOfThePacketThatAskedToItsAcknowledgement) {
  expect_round_trip_of(7, 1);
}

TEST(RoundTripTime, OneForManyIsThatOfThePacketItNames) {
  expect_round_trip_of(23, 3);
}

TEST(RoundTripTime, AnAcknowledgementOfAPacketThatDidNotAskGivesNone) {
  HostAndPuppet pair;
  pair.host().add_flow(timely_flow(1));
  pair.puppet().say(us(20), ack(4));
  pair.run(us(100));
  EXPECT_EQ(rate_of(pair), 100'000'000'000u);
  EXPECT_EQ(pair.host().sender(0)->under_way(), 3u);
}

// Nobody can tell which of the two was acknowledged.
TEST(RoundTripTime, APacketThatWasSentAgainHasNone) {
  HostAndPuppet pair;
  pair.host().add_flow(timely_flow(1));
  pair.puppet().say(us(200), ack(7));
  pair.run();
  EXPECT_EQ(pair.host().sent(0).reliable.local_ack_timeout_err, 1u);
  EXPECT_EQ(pair.host().sent(0).reliable.retransmitted_packets, 8u);
  EXPECT_EQ(pair.host().sent(0).reliable.completed_messages, 1u);
  EXPECT_EQ(rate_of(pair), 100'000'000'000u);
}

TEST(RoundTripTime, TheRingHoldsEveryPacketOfAWindowThatAsks) {
  AskTimes asks{4};
  for (uint64_t n = 0; n < 6; ++n) asks.note(n, us(static_cast<int64_t>(n)));
  EXPECT_EQ(asks.take(1, us(10)), Duration::us(9));
  EXPECT_EQ(asks.take(5, us(10)), std::nullopt) << "there was no room for it";
  asks.note(6, us(11));
  asks.note(7, us(12));
  EXPECT_EQ(asks.take(7, us(20)), Duration::us(8)) << "those before it are taken, too";
  asks.note(8, us(30));
  asks.forget();
  EXPECT_EQ(asks.take(8, us(40)), std::nullopt);
  AskTimes none{0};
  none.note(0, us(0));
  EXPECT_EQ(none.take(0, us(1)), std::nullopt);
}

// A window, not a rate: 100 Gb/s and 1 us are 12,500 bytes, 12 packets, and the last of them asks.
TEST(ControlledWindow, KeepsNoMoreUnderWayThanItsCongestionControlLets) {
  HostAndPuppet pair;
  FlowConfig flow = timely_flow(1);
  flow.message_bytes = 64 * 1024;
  flow.reliable.congestion_control = BdpCapParameters{.rtt = Duration::us(1)};
  pair.host().add_flow(flow);
  pair.puppet().say(us(50), ack(11));
  pair.run(us(100));
  ASSERT_EQ(pair.puppet().heard().size(), 24u);
  for (size_t n = 0; n < 24; ++n) {
    const Heard& heard = pair.puppet().heard()[n];
    EXPECT_EQ(heard.started < us(50), n < 12);
    EXPECT_EQ((heard.bth()[bth::kAckRequest] & bth::kAckRequestBit) != 0, n % 12 == 11) << n;
  }
}

TEST(ControlledWindow, OnePacketMayBeUnderWayHoweverSmallItIs) {
  HostAndPuppet pair;
  FlowConfig flow = timely_flow(1);
  flow.reliable.congestion_control = BdpCapParameters{.rtt = Duration::ns(1)};
  pair.host().add_flow(flow);
  pair.puppet().say(us(10), ack(0));
  pair.run(us(100));
  ASSERT_EQ(pair.puppet().heard().size(), 2u);
  EXPECT_EQ(pair.puppet().heard()[1].psn(), 1u);
}

}  // namespace
}  // namespace softspine::testbeds
