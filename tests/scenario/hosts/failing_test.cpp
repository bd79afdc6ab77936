// SPDX-License-Identifier: Apache-2.0
// Hosts that fail on purpose: a slow receiver pauses its peer so that nothing is lost; a storm pauses it for as long as
// it likes.
#include "dataplane/flow_control/pause_timing.hpp"
#include "tests/scenario/hosts/puppet.hpp"
#include "tests/scenario/switch/frames.hpp"

namespace softspine::testbeds {
namespace {

constexpr PortNo kPort{0};
constexpr SlowReceiver kTenGbps{.drain = Rate::gbps(10)};

FlowConfig lossless(uint32_t id = 0) {
  FlowConfig flow = flow_config(id);
  flow.dscp = 3;
  return flow;
}
uint64_t overflowed(const RoceHost& host) {
  return host.counters().dropped[static_cast<size_t>(DropReason::kReceiveBufferFull)];
}

TEST(SlowReceiver, LosesNothingAndHoldsItsPeerToItsRate) {
  TwoHosts hosts;
  FlowConfig flow = lossless();
  flow.messages = 0;
  hosts.flow(flow);
  hosts.b().set_slow_receiver(kPort, kTenGbps, Instant{});
  hosts.run(us(5'000));
  const FlowReceived& received = hosts.b().received(0);
  EXPECT_EQ(overflowed(hosts.b()), 0u);
  EXPECT_EQ(received.skipped, 0u);
  // 4096 of 4154 bytes a frame; XON comes at 64 KiB, before the buffer is empty, so it never idles.
  EXPECT_NEAR(received.goodput_bps(), 10e9 * 4096 / 4154, 10e9 * 0.01);
  EXPECT_GT(hosts.a().flow_control(kPort).pauses().on_to_off(Priority{3}), 10u);
  EXPECT_EQ(hosts.a().flow_control(kPort).pfc_rx_frames(Priority{3}) + 0u,
            hosts.b().flow_control(kPort).pfc_tx_frames(Priority{3}));
  EXPECT_GT(hosts.b().receive_buffer(kPort).watermark_bytes(), kTenGbps.xoff_bytes);
}

TEST(SlowReceiver, StaysWithinItsBufferBeyondXoffByWhatWasUnderWay) {
  TwoHosts hosts;
  FlowConfig flow = lossless();
  flow.messages = 0;
  hosts.flow(flow);
  hosts.b().set_slow_receiver(kPort, kTenGbps, Instant{});
  hosts.run(us(2'000));
  const Rate rate = Rate::gbps(100);
  // XOFF's own wait and flight, the response, one frame begun at its end, and the flight of that.
  const Duration late = rate.time_of_frame(mac_control::kFrameBytes) + PauseTiming::of(rate).response +
                        Duration::us(1) + 2 * rate.time_of_frame(4178);
  const auto most = static_cast<uint32_t>(late.seconds() * 100e9 / 8) + 2 * 4178;
  EXPECT_LE(hosts.b().receive_buffer(kPort).watermark_bytes(), kTenGbps.xoff_bytes + most);
}

TEST(SlowReceiver, WithoutAPeerThatObeysItsBufferOverflows) {
  TwoHosts hosts;
  FlowConfig flow = flow_config();  // priority 1, which no pause of 3 and 4 stops
  flow.messages = 0;
  hosts.flow(flow);
  SlowReceiver slow = kTenGbps;
  slow.priorities = 0x02;
  slow.xoff_bytes = slow.size_bytes;  // and which it never asks to pause
  hosts.b().set_slow_receiver(kPort, slow, Instant{});
  hosts.run(us(500));
  EXPECT_GT(overflowed(hosts.b()), 0u);
  EXPECT_LE(hosts.b().receive_buffer(kPort).watermark_bytes(), slow.size_bytes);
  EXPECT_GT(hosts.b().received(0).skipped, 0u);
  EXPECT_EQ(hosts.a().flow_control(kPort).pauses().rx_frames(Priority{1}), 0u);
}

TEST(SlowReceiver, ALongPauseIsRefreshedBeforeItLapses) {
  TwoHosts hosts;
  FlowConfig flow = lossless();
  flow.messages = 0;
  hosts.flow(flow);
  SlowReceiver stuck = kTenGbps;
  stuck.drain = Rate{};
  hosts.b().set_slow_receiver(kPort, stuck, Instant{});
  hosts.run(us(5'000));
  EXPECT_EQ(hosts.a().flow_control(kPort).pauses().on_to_off(Priority{3}), 0u) << "one pause without a gap";
  EXPECT_GT(hosts.a().flow_control(kPort).pfc_rx_frames(Priority{3}), 5'000 / 168u);
  EXPECT_EQ(overflowed(hosts.b()), 0u);
}

TEST(SlowReceiver, WhenItIsWellAgainEverythingGoesOn) {
  TwoHosts hosts;
  FlowConfig flow = lossless();
  flow.transport = TransportKind::kReliable;
  flow.messages = 4;
  hosts.flow(flow);
  SlowReceiver stuck = kTenGbps;
  stuck.drain = Rate{};
  Engine& engine = hosts.engine();
  const NodeId id = hosts.b().id();
  engine.at(us(10), [&](Instant now) {
    hosts.b().set_slow_receiver(kPort, stuck, now);
    engine.wake(id, now);
  });
  engine.at(us(700), [&](Instant now) {
    hosts.b().set_slow_receiver(kPort, std::nullopt, now);
    engine.wake(id, now);
  });
  ASSERT_EQ(hosts.run(), RunEnd::kIdle);
  EXPECT_EQ(hosts.a().sent(0).reliable.completed_messages, 4u);
  EXPECT_EQ(hosts.a().sent(0).reliable.retransmitted_packets, 0u);
  EXPECT_EQ(hosts.a().flow_control(kPort).pauses().on_to_off(Priority{3}), 1u);
  EXPECT_GT(hosts.b().received(0).last_message, us(700));
}

TEST(Storm, PausesWithoutAGapAndLapsesWhenItFallsSilent) {
  TwoHosts hosts;
  FlowConfig flow = lossless();
  flow.messages = 0;
  hosts.flow(flow);
  Engine& engine = hosts.engine();
  const NodeId id = hosts.b().id();
  const auto storm = [&](int64_t at, uint8_t priorities) {
    engine.at(us(at), [&, priorities](Instant now) {
      hosts.b().set_storm(kPort, priorities, now);
      engine.wake(id, now);
    });
  };
  storm(100, 0x18);
  storm(1'000, 0);
  hosts.run(us(2'000));
  const PauseState& pause = hosts.a().flow_control(kPort).pauses();
  EXPECT_EQ(pause.on_to_off(Priority{3}), 1u);
  // Refreshes leave every 65535/2 quanta, the last one before 1 ms; its pause runs out by itself.
  const Rate rate = Rate::gbps(100);
  const Duration flight = rate.time_of_frame(mac_control::kFrameBytes) + Duration::ns(500);
  const Duration refresh = pause_quantum(rate) * (0xffff / 2);
  const int64_t refreshes = Duration::us(900) / refresh;
  const Duration paused = refresh * refreshes + pause_quantum(rate) * 0xffff - PauseTiming::of(rate).response;
  EXPECT_NEAR(pause.paused_time(Priority{3}, us(2'000)).seconds(), paused.seconds(), 1e-9);
  EXPECT_EQ(pause.rx_frames(Priority{4}), static_cast<uint64_t>(refreshes + 1));
  EXPECT_EQ(pause.rx_frames(Priority{0}), 0u);
  EXPECT_GT(hosts.b().received(0).last_arrived, us(1'000) + flight);
}

TEST(Storm, TheFramesAreTheStandards) {
  HostAndPuppet pair;
  pair.host().set_storm(kPort, 0x08, Instant{});
  pair.run(us(400));
  ASSERT_EQ(pair.puppet().heard().size(), 3u);
  for (const Heard& heard : pair.puppet().heard()) {
    Bytes expected(mac_control::kFrameBytes);
    write_pfc(expected.data(), host_config(1).mac, PfcFrame::of(0x08, 0xffff));
    EXPECT_EQ(heard.frame, expected);
  }
  const Duration refresh = pause_quantum(Rate::gbps(100)) * (0xffff / 2);
  EXPECT_EQ(pair.puppet().heard()[1].started - pair.puppet().heard()[0].started, refresh);
}

// Switches tell who sent what they could not bring on. No loss of its own, unlike what the host has no use for.
TEST(HostResponder, ErrorsAboutItsPacketsAreConsumed) {
  HostAndPuppet pair;
  const HostConfig host = host_config(1);
  const tests::Mac router = host_config(2).mac;
  const tests::Bytes own(host.ipv6.begin(), host.ipv6.end());
  const tests::Bytes peer = tests::ip6(0xfd, 9);
  int64_t at = 1;
  for (const auto& [type4, type6] : {std::pair<uint8_t, uint8_t>{3, 1}, {11, 3}, {3, 2}, {13, 200}}) {
    const tests::Ipv4 ip4{.from = tests::ip4("10.0.0.9"), .to = tests::ip4("10.0.0.1"), .protocol = 1};
    const tests::Ipv6 ip6{.from = peer, .to = own, .next_header = 58};
    const tests::Bytes body = tests::counting(28);
    pair.puppet().say(us(at++), tests::ethernet_frame(host.mac, router, 0x0800,
                                                      tests::ipv4_packet(ip4, tests::icmp4(type4, 0, 0, body))));
    pair.puppet().say(us(at++),
                      tests::ethernet_frame(host.mac, router, 0x86dd,
                                            tests::ipv6_packet(ip6, tests::icmp6(peer, own, type6, 0, 0, body))));
  }
  pair.run();
  EXPECT_EQ(pair.host().counters().dropped[static_cast<size_t>(DropReason::kConsumed)], 6u);
  EXPECT_EQ(pair.host().counters().dropped[static_cast<size_t>(DropReason::kUnsupported)], 2u) << "timestamps and 200";
}

// The NIC's own watchdog: a host whose receive side stops, or that storms, and how it is seen from the peer.
class NicsOwnWatchdog : public testing::Test {
 protected:
  static constexpr Duration kPatience = Duration::us(1'000);

  NicsOwnWatchdog() {
    FlowConfig flow = lossless();
    flow.messages = 0;
    hosts_.flow(flow);
  }
  void stop_receiving() {
    SlowReceiver stuck = kTenGbps;
    stuck.drain = Rate{};
    hosts_.b().set_slow_receiver(kPort, stuck, Instant{});
  }
  Duration paused() { return hosts_.a().flow_control(kPort).pauses().paused_time(Priority{3}, hosts_.engine().now()); }
  uint64_t fired() { return hosts_.b().counters().watchdog_storms; }

  TwoHosts hosts_{{.pfc_watchdog = kPatience}};
};

// XOFF when more than 96 KiB wait, which 24 frames are; a pause is 65,535 quanta of 5.12 ns, and repeated meanwhile.
TEST_F(NicsOwnWatchdog, EndsThePausesOfANicThatTakesNothingInWhenItsTimeIsUp) {
  stop_receiving();
  hosts_.run(us(5'000));
  EXPECT_EQ(fired(), 1u);
  EXPECT_GE(paused(), kPatience - Duration::us(10));
  EXPECT_LE(paused(), kPatience + Duration::ps(5'120) * 65'535);
  EXPECT_EQ(hosts_.a().flow_control(kPort).pauses().on_to_off(Priority{3}), 1u);
  EXPECT_GT(overflowed(hosts_.b()), 0u) << "nobody takes what comes then";
}

TEST_F(NicsOwnWatchdog, LetsANicPauseThatTakesSomethingIn) {
  SlowReceiver slow = kTenGbps;
  slow.drain = Rate::mbps(50);  // a frame every 665 us
  hosts_.b().set_slow_receiver(kPort, slow, Instant{});
  hosts_.run(us(5'000));
  EXPECT_EQ(fired(), 0u);
  EXPECT_GT(paused(), Duration::us(4'900));
  EXPECT_EQ(overflowed(hosts_.b()), 0u);
}

TEST_F(NicsOwnWatchdog, EndsAStormAndWatchesAgainAfterTheRepair) {
  Engine& engine = hosts_.engine();
  const auto storm_at = [&](int64_t at, uint8_t priorities) {
    engine.at(us(at), [this, &engine, priorities](Instant now) {
      hosts_.b().set_storm(kPort, priorities, now);
      engine.wake(hosts_.b().id(), now);
    });
  };
  storm_at(100, 0x08);
  storm_at(2'500, 0);
  storm_at(3'000, 0x08);
  hosts_.run(us(2'400));
  EXPECT_EQ(fired(), 1u);
  const Duration once = paused();
  EXPECT_GE(once, kPatience - Duration::us(10));
  EXPECT_LE(once, kPatience + Duration::ps(5'120) * 65'535);
  hosts_.run(us(3'500));
  EXPECT_GT(paused(), once + Duration::us(400)) << "a new storm pauses again";
  hosts_.run(us(5'000));
  EXPECT_EQ(fired(), 2u);
}

}  // namespace
}  // namespace softspine::testbeds
