// SPDX-License-Identifier: Apache-2.0
// When packets leave and arrive: exact on a link of one's own, exact on average when paced.
#include "tests/scenario/hosts/two_hosts.hpp"

namespace softspine::testbeds {
namespace {

// Ethernet, IPv4, UDP, BTH, ICRC; the first packet of a write carries 16 more.
constexpr uint32_t kHeaders = 14 + 20 + 8 + 12 + 4;

TEST(HostTiming, APacketTakesSerialisationAndPropagationToThePicosecond) {
  for (const Rate rate : {Rate::gbps(1), Rate::gbps(33), Rate::gbps(100), Rate::gbps(400), Rate::gbps(800)}) {
    for (const uint32_t payload : {0u, 1u, 64u, 1024u, 4096u}) {
      TwoHosts hosts{{.rate = rate, .propagation = Duration::ps(1'234'567)}};
      FlowConfig flow = flow_config();
      flow.message_bytes = payload;
      flow.start = Instant::at_ps(77'001);
      hosts.flow(flow);
      ASSERT_EQ(hosts.run(), RunEnd::kIdle);
      const uint32_t padded = (payload + 3) / 4 * 4;
      const Duration expected = rate.time_of_frame(kHeaders + 16 + padded) + Duration::ps(1'234'567);
      EXPECT_EQ(hosts.b().received(0).latency_min_ps, expected.count_ps());
      EXPECT_EQ(hosts.b().received(0).latency_max_ps, expected.count_ps());
      EXPECT_EQ(hosts.b().received(0).first_born, flow.start);
      EXPECT_EQ(hosts.b().received(0).last_message, flow.start + expected);
      EXPECT_EQ(hosts.b().received(0).bytes, payload);
    }
  }
}

TEST(HostTiming, AMessageAtLineRateEndsWhenItsBytesHavePassed) {
  TwoHosts hosts;
  FlowConfig flow = flow_config();
  flow.message_bytes = 10 * 4096 + 3;
  hosts.flow(flow);
  ASSERT_EQ(hosts.run(), RunEnd::kIdle);
  const Rate rate = Rate::gbps(100);
  const Duration wire = rate.time_of_frame(kHeaders + 16 + 4096) + 9 * rate.time_of_frame(kHeaders + 4096) +
                        rate.time_of_frame(kHeaders + 4) + Duration::ns(500);
  EXPECT_EQ(hosts.b().received(0).messages, 1u);
  EXPECT_EQ(hosts.b().received(0).packets, 11u);
  EXPECT_EQ(hosts.b().counters().message_latency_ps.max(), static_cast<uint64_t>(wire.count_ps()));
  EXPECT_EQ(flow_completion(hosts.a().sent(0), hosts.b().received(0)), wire);
}

TEST(HostTiming, APacedFlowKeepsItsRate) {
  for (const Rate rate : {Rate::mbps(10), Rate::gbps(1), Rate::mbps(33'333), Rate::gbps(100)}) {
    TwoHosts hosts;
    FlowConfig flow = flow_config();
    flow.verb = Verb::kSend;
    flow.mtu = 1024;
    flow.message_bytes = 1024;
    flow.messages = 1000;
    flow.rate = rate;
    hosts.flow(flow);
    ASSERT_EQ(hosts.run(), RunEnd::kIdle);
    const Duration last_start =
        hosts.a().sent(0).last_left - hosts.a().sent(0).first_sent - Rate::gbps(100).time_of_frame(1082);
    const double bits = 999.0 * (1082 + 24) * 8;
    EXPECT_NEAR(last_start.seconds(), bits / static_cast<double>(rate.count_bps()), 1e-9);
  }
}

TEST(HostTiming, PacedFlowsThatFitTheLinkKeepTheirRatesBesideEachOther) {
  TwoHosts hosts;
  constexpr std::array<uint32_t, 6> kGbps{40, 25, 20, 10, 3, 1};  // 99 of 100
  for (uint32_t i = 0; i < kGbps.size(); ++i) {
    FlowConfig flow = flow_config(i);
    flow.mtu = 1024;
    flow.messages = 0;
    flow.rate = Rate::gbps(kGbps[i]);
    hosts.flow(flow);
  }
  const Duration time = Duration::ms(2);
  ASSERT_EQ(hosts.run(Instant::at(time)), RunEnd::kDone);
  for (uint32_t i = 0; i < kGbps.size(); ++i) {
    // 1024 packets of a message: one RETH of 16 bytes.
    const double wire_bits = (1082 + 24 + 16.0 / 1024) * 8;
    const double expected = time.seconds() * static_cast<double>(kGbps[i]) * 1e9 / wire_bits;
    EXPECT_NEAR(static_cast<double>(hosts.a().sent(i).packets), expected, 1 + expected * 1e-4) << kGbps[i];
  }
}

TEST(HostTiming, LineRateFillsTheLink) {
  for (const Rate rate : {Rate::gbps(10), Rate::gbps(400)}) {
    TwoHosts hosts{{.rate = rate}};
    FlowConfig flow = flow_config();
    flow.verb = Verb::kSend;
    flow.messages = 0;
    hosts.flow(flow);
    hosts.run(Instant::at(Duration::ms(1)));
    const double share = 4096.0 / (4096 + kHeaders + 24);
    EXPECT_NEAR(hosts.b().received(0).goodput_bps(), share * static_cast<double>(rate.count_bps()),
                0.001 * share * static_cast<double>(rate.count_bps()));
  }
}

TEST(HostTiming, QueuePairsAtLineRateTakeTurns) {
  TwoHosts hosts;
  constexpr uint32_t kFlows = 1000;
  for (uint32_t i = 0; i < kFlows; ++i) {
    FlowConfig flow = flow_config(i);
    flow.messages = 0;
    hosts.flow(flow);
  }
  hosts.run(Instant::at(Duration::ms(2)));
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  for (uint32_t i = 0; i < kFlows; ++i) {
    least = std::min(least, hosts.a().sent(i).packets);
    most = std::max(most, hosts.a().sent(i).packets);
    EXPECT_EQ(hosts.b().received(i).skipped, 0u);
  }
  EXPECT_GE(least, 5u);
  EXPECT_LE(most, least + 1);
}

TEST(HostTiming, APacedFlowIsNotStarvedByOnesAtLineRate) {
  TwoHosts hosts;
  for (uint32_t i = 0; i < 9; ++i) {
    FlowConfig flow = flow_config(i);
    flow.messages = 0;
    if (i == 0) flow.rate = Rate::gbps(5);  // its turn comes at least every tenth packet: 10 Gb/s
    hosts.flow(flow);
  }
  hosts.run(Instant::at(Duration::ms(2)));
  const double packets = 2e-3 * 5e9 / ((4096 + kHeaders + 24 + 16.0 / 256) * 8);
  EXPECT_NEAR(static_cast<double>(hosts.a().sent(0).packets), packets, 2);
}

TEST(HostTiming, AGapFollowsEveryMessage) {
  TwoHosts hosts;
  FlowConfig flow = flow_config();
  flow.message_bytes = 4096;
  flow.messages = 5;
  flow.gap = Duration::us(3);
  hosts.flow(flow);
  hosts.run();
  const Duration frame = Rate::gbps(100).time_of_frame(kHeaders + 16 + 4096);
  EXPECT_EQ(hosts.a().sent(0).last_left - hosts.a().sent(0).first_sent, 5 * frame + 4 * Duration::us(3));
}

TEST(HostTiming, APortWaitsForItsLinkAndGoesOn) {
  TwoHosts hosts;
  FlowConfig flow = flow_config();
  flow.messages = 0;
  hosts.flow(flow);
  const PortRef port{hosts.a().id(), PortNo{0}};
  hosts.engine().at(Instant::at(Duration::us(10)), [&](Instant now) { hosts.engine().set_link(port, false, now); });
  hosts.engine().at(Instant::at(Duration::us(50)), [&](Instant now) { hosts.engine().set_link(port, true, now); });
  hosts.run(Instant::at(Duration::us(60)));
  const FlowReceived& received = hosts.b().received(0);
  const auto frame = Rate::gbps(100).time_of_frame(kHeaders + 4096);
  EXPECT_EQ(received.gaps, 1u);  // what was on the link when it went down, and nothing else
  EXPECT_EQ(received.skipped, hosts.engine().lost_on_links());
  EXPECT_NEAR(static_cast<double>(hosts.a().sent(0).packets), 20e-6 / frame.seconds(), 2);
  EXPECT_EQ(hosts.a().transmitter(PortNo{0}).counters().lost_packets, 0u);
}

TEST(HostTiming, AnEmptyPoolDelaysAndLosesNothing) {
  TwoHosts hosts{{.rate = Rate::gbps(400), .propagation = Duration::us(2), .packets = 15}};
  FlowConfig flow = flow_config();
  flow.message_bytes = 1 << 20;
  hosts.flow(flow);
  ASSERT_EQ(hosts.run(), RunEnd::kIdle);
  EXPECT_EQ(hosts.pool().made(), 15u) << "all that it may have";
  EXPECT_EQ(hosts.b().received(0).messages, 1u);
  EXPECT_EQ(hosts.b().received(0).skipped, 0u);
}

}  // namespace
}  // namespace softspine::testbeds
