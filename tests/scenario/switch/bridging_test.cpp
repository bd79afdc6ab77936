// SPDX-License-Identifier: Apache-2.0
// VLANs: learning, flooding, tags, and the way from one VLAN through the gateway to another.
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

const Mac kA = station(1);
const Mac kB = station(2);
const Mac kC = station(3);

using Tor = Bench<pipelines::Tor>;

Bytes plain(const Mac& to, const Mac& from, uint8_t number = 0) {
  return ethernet_frame(to, from, 0x88b5, Bytes(50, number));
}
Bytes tagged(const Mac& to, const Mac& from, uint16_t tci, uint8_t number = 0) {
  return tagged_frame(to, from, tci, 0x88b5, Bytes(50, number));
}

TEST(Bridging, FloodsTheUnknownAndForwardsTheKnown) {
  Tor bench;
  EXPECT_EQ(bench.exchange(0, plain(kB, kA)), (Frames{{1, plain(kB, kA)}, {2, tagged(kB, kA, 10)}}));
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}}));
  EXPECT_EQ(bench.exchange(1, plain(kA, kB)), (Frames{{0, plain(kA, kB)}}));
  EXPECT_EQ(bench.exchange(0, plain(kB, kA)), (Frames{{1, plain(kB, kA)}}));
  EXPECT_EQ(bench.drops(), Drops{});
}

// Nobody hears it: a frame for one station is lost, one for all has reached all that there are.
TEST(Bridging, WithNoOtherPortUpTheUnknownIsLostAndABroadcastIsNot) {
  Tor bench;
  bench.set_link(1, false);
  bench.set_link(2, false);
  EXPECT_EQ(bench.exchange(0, plain(kB, kA)), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}}));
  EXPECT_EQ(bench.exchange(0, plain(kAll, kA)), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}}));
  bench.set_link(2, true);
  EXPECT_EQ(bench.exchange(0, plain(kB, kA)), (Frames{{2, tagged(kB, kA, 10)}}));
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}}));
}

TEST(Bridging, PutsTagsOnAndTakesThemOff) {
  Tor bench;
  EXPECT_EQ(bench.exchange(2, tagged(kA, kC, 10)), (Frames{{0, plain(kA, kC)}, {1, plain(kA, kC)}}));
  EXPECT_EQ(bench.exchange(0, plain(kC, kA)), (Frames{{2, tagged(kC, kA, 10)}}));
  EXPECT_EQ(bench.exchange(2, tagged(kA, kC, 10)), (Frames{{0, plain(kA, kC)}}));
}

// Four bytes more or less, in the frame and in what is counted.
TEST(Bridging, ATagIsPartOfTheFramesLength) {
  Tor bench;
  bench.exchange(2, tagged(kA, kC, 10));
  EXPECT_EQ(bench.counters(2).rx_bytes, 68u);
  EXPECT_EQ(bench.counters(0).tx_bytes, 64u);
  EXPECT_EQ(bench.arrivals(0).back().frame_bytes, 64u);
  bench.exchange(0, plain(kC, kA));
  EXPECT_EQ(bench.counters(2).tx_bytes, 68u);
  EXPECT_EQ(bench.arrivals(2).back().frame_bytes, 68u);
}

TEST(Bridging, KeepsThePriorityOfATag) {
  ForwardingState state = bench_state();
  state.ports[3].tagged_vlans = {10};
  state.vlans[0].members.push_back({3, true});
  Tor bench{std::move(state)};
  bench.exchange(3, tagged(kB, kA, 10));
  EXPECT_EQ(bench.exchange(2, tagged(kA, kB, 3 << 13 | 10)), (Frames{{3, tagged(kA, kB, 3 << 13 | 10)}}));
}

TEST(Bridging, APriorityTagIsNoVlan) {
  Tor bench;
  EXPECT_EQ(bench.exchange(0, tagged(kB, kA, 5 << 13)),
            (Frames{{1, plain(kB, kA)}, {2, tagged(kB, kA, 5 << 13 | 10)}}));
}

TEST(Bridging, VlansDoNotMeet) {
  Tor bench;
  bench.exchange(0, plain(kB, kA));
  EXPECT_EQ(bench.exchange(3, plain(kA, kC)), (Frames{{2, tagged(kA, kC, 20)}})) << "known, but elsewhere";
  EXPECT_EQ(bench.exchange(2, tagged(kAll, kB, 20)), (Frames{{3, plain(kAll, kB)}}));
}

TEST(Bridging, FollowsAStationThatMoves) {
  Tor bench;
  bench.exchange(0, plain(kB, kA));
  EXPECT_EQ(bench.exchange(2, tagged(kA, kB, 10)), (Frames{{0, plain(kA, kB)}}));
  bench.exchange(1, plain(kB, kA));
  EXPECT_EQ(bench.exchange(2, tagged(kA, kB, 10)), (Frames{{1, plain(kA, kB)}}));
}

// 802.1Q table 8-1: 01-80-C2-00-00-00 to -0F are never forwarded; the next address is a group like any other.
TEST(Bridging, DropsEachOfTheSixteenReservedAddressesAndFloodsTheNext) {
  Tor bench;
  for (uint8_t last = 0; last <= 0x0f; ++last) {
    if (last == 1) continue;  // MAC control: its own place, with an EtherType of its own
    EXPECT_EQ(bench.exchange(0, plain({0x01, 0x80, 0xc2, 0, 0, last}, kA)), Frames{}) << int{last};
    EXPECT_EQ(bench.drops(), (Drops{{"unsupported", 1}})) << int{last};
  }
  const Mac next{0x01, 0x80, 0xc2, 0, 0, 0x10};
  EXPECT_EQ(bench.exchange(0, plain(next, kA)), (Frames{{1, plain(next, kA)}, {2, tagged(next, kA, 10)}}));
  const Mac before{0x01, 0x80, 0xc1, 0xff, 0xff, 0xff};
  EXPECT_EQ(bench.exchange(0, plain(before, kA)), (Frames{{1, plain(before, kA)}, {2, tagged(before, kA, 10)}}));
}

TEST(Bridging, ForgetsAStationWithItsAgeAndWithItsLink) {
  Tor bench;
  bench.exchange(0, plain(kB, kA));
  const Instant learned = bench.engine().now();
  bench.engine().run(learned + Duration::s(299));
  EXPECT_EQ(bench.exchange(1, plain(kA, kB)).size(), 1u);
  bench.engine().run(learned + Duration::s(301));
  EXPECT_EQ(bench.exchange(1, plain(kA, kB)).size(), 2u);
  bench.exchange(0, plain(kB, kA));
  bench.set_link(0, false);
  bench.set_link(0, true);
  EXPECT_EQ(bench.exchange(1, plain(kA, kB)).size(), 2u);
}

TEST(Bridging, BroadcastsAndMulticastsReachAllButTheSender) {
  Tor bench;
  const Mac group{0x01, 0x00, 0x5e, 0, 0, 5};
  const Bytes ip = ipv4_packet({.from = ip4("10.0.10.2"), .to = ip4("224.0.0.5")}, counting(40));
  const Bytes in = ethernet_frame(group, kA, 0x0800, ip);
  EXPECT_EQ(bench.exchange(0, in), (Frames{{1, in}, {2, tagged_frame(group, kA, 1 << 13 | 10, 0x0800, ip)}}));
  EXPECT_EQ(bench.exchange(0, plain(kAll, kA)), (Frames{{1, plain(kAll, kA)}, {2, tagged(kAll, kA, 10)}}));
  bench.exchange(0, plain(kAll, kA));
  EXPECT_EQ(bench.counters(0).rx_multicast_packets, 1u);
  EXPECT_EQ(bench.counters(0).rx_broadcast_packets, 2u);
  EXPECT_EQ(bench.counters(1).tx_multicast_packets, 1u);
  EXPECT_EQ(bench.counters(1).tx_broadcast_packets, 2u);
  EXPECT_EQ(bench.counters(2).made_packets, 3u);
}

// The faults of layer 3 are no bridge's business; nor is RoCEv1, which has none.
TEST(Bridging, PassesWhatItDoesNotUnderstand) {
  Tor bench;
  bench.exchange(1, plain(kA, kB));
  const Bytes packet = ipv4_packet({.from = ip4("224.0.0.1"), .to = ip4("10.0.10.3"), .ttl = 0}, counting(30));
  for (const Bytes& in :
       {ethernet_frame(kB, kA, 0x0800, with_word(packet, 10, 0x1111)), ethernet_frame(kB, kA, 0x8915, counting(60)),
        ethernet_frame(kB, kA, 0x0026, counting(46)), ethernet_frame(kB, kA, 0x86dd, Bytes{0x60, 0, 0})}) {
    EXPECT_EQ(bench.exchange(0, in), (Frames{{1, in}}));
  }
}

TEST(Bridging, EndsWhatABridgeMustNotPass) {
  Tor bench;
  bench.exchange(0, plain(kB, kA));
  bench.drops();
  Mac from_many = kA;
  from_many[0] |= 1;
  const std::pair<Frame, const char*> cases[] = {
      {{0, plain(kA, kB)}, "same_port"},
      {{0, tagged(kB, kA, 30)}, "vlan_not_allowed"},
      {{0, tagged(kB, kA, 10)}, "vlan_not_allowed"},
      {{2, plain(kB, kA)}, "vlan_not_allowed"},
      {{2, tagged(kB, kA, 3 << 13)}, "vlan_not_allowed"},
      {{0, plain(kB, from_many)}, "bad_source"},
      {{0, plain({0x01, 0x80, 0xc2, 0, 0, 0x0e}, kA)}, "unsupported"},
      {{0, plain({0x01, 0x80, 0xc2, 0, 0, 0x00}, kA)}, "unsupported"},
      {{0, plain(kRouter, kA)}, "unsupported"},
  };
  for (const auto& [in, reason] : cases) {
    EXPECT_EQ(bench.exchange(in.port, in.bytes), Frames{}) << reason;
    EXPECT_EQ(bench.drops(), (Drops{{reason, 1}}));
  }
  EXPECT_EQ(bench.exchange(0, plain({0x01, 0x80, 0xc2, 0, 0, 0x10}, kA)).size(), 2u) << "behind the reserved ones";
}

TEST(Bridging, RoutesFromOneVlanToAnotherThroughTheGateway) {
  Tor bench;
  bench.introduce4(0, kA, "10.0.10.2", "10.0.10.1");
  bench.introduce4(3, kC, "10.0.20.2", "10.0.20.1");
  const auto packet = [](uint8_t ttl) {
    return ipv4_packet({.from = ip4("10.0.10.2"), .to = ip4("10.0.20.2"), .ttl = ttl}, counting(40));
  };
  EXPECT_EQ(bench.exchange(0, ethernet_frame(kRouter, kA, 0x0800, packet(64))),
            (Frames{{3, ethernet_frame(kC, kRouter, 0x0800, packet(63))}}));
  // Out of a tagged port the same way, and to the fabric without a tag.
  const auto to_fabric = [](uint8_t ttl) {
    return ipv4_packet({.from = ip4("10.0.20.9"), .to = ip4("10.1.0.1"), .ttl = ttl}, counting(40));
  };
  EXPECT_EQ(bench.exchange(2, tagged_frame(kRouter, kB, 20, 0x0800, to_fabric(64))),
            (Frames{{4, ethernet_frame(station(104), kRouter, 0x0800, to_fabric(63))}}));
}

// What the switch itself says into a tagged VLAN has class 0, whatever its memory held before.
TEST(Bridging, ItsOwnErrorsCarryATagOfClassZero) {
  Tor bench;
  const Bytes arp = arp_packet(1, kC, ip4("10.0.20.2"), Mac{}, ip4("10.0.20.1"));
  bench.exchange(2, tagged_frame(kAll, kC, 20, 0x0806, arp));
  for (int i = 0; i < 20; ++i) {
    const auto packet = [](uint8_t ttl) {
      return ipv4_packet({.from = ip4("10.0.20.2"), .to = ip4("10.1.0.1"), .ttl = ttl, .tos = 48 << 2}, counting(40));
    };
    bench.exchange(2, tagged_frame(kRouter, kC, 20, 0x0800, packet(64)));
    const Bytes error = ipv4_packet({.from = ip4("10.0.20.1"), .to = ip4("10.0.20.2"), .protocol = 1, .id = 0},
                                    icmp4(11, 0, 0, packet(1)));
    ASSERT_EQ(bench.exchange(2, tagged_frame(kRouter, kC, 20, 0x0800, packet(1))),
              (Frames{{2, tagged_frame(kC, kRouter, 20, 0x0800, error)}}));
  }
}

TEST(Bridging, ACopyThatFindsNoBufferIsCounted) {
  dataplane::PacketPool small{"small", 64, 64};
  Tor bench{bench_state(), small};
  EXPECT_EQ(bench.exchange(0, ethernet_frame(kB, kA, 0x88b5, counting(60))), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"no_buffer", 2}, {"consumed", 1}}));
  EXPECT_EQ(bench.exchange(0, ethernet_frame(kB, kA, 0x88b5, counting(46))).size(), 2u);
}

}  // namespace
}  // namespace softspine::tests
