// SPDX-License-Identifier: Apache-2.0
// ARP and neighbour discovery: what is answered, asked, learned, and handed on inside a VLAN.
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

const Bytes kRemote4 = ip4("10.1.7.7");
const Bytes kRemote6 = ip6(0x101, 7);

using Tor = Bench<pipelines::Tor>;

Bytes arp_frame(const Mac& to, const Mac& from, const Bytes& packet) {
  return ethernet_frame(to, from, 0x0806, packet);
}
// As the switch asks: padded to the least frame.
Bytes arp_question(const std::string& gateway, const std::string& target) {
  return padded(arp_frame(kAll, kRouter, arp_packet(1, kRouter, ip4(gateway), Mac{}, ip4(target))));
}
Bytes tagged(const Bytes& frame, uint16_t tci) {
  const Bytes tag = join({be16(0x8100), be16(tci)});
  return join({{frame.begin(), frame.begin() + 12}, tag, {frame.begin() + 12, frame.end()}});
}
Bytes data4(const std::string& to, uint8_t ttl = 64) {
  return ipv4_packet({.from = kRemote4, .to = ip4(to), .ttl = ttl}, udp_datagram(5, 6, counting(20)));
}

size_t known_to(Tor& bench) {
  size_t known = 0;
  bench.node().tables().neighbours.for_each([&known](const auto&, const auto&) { ++known; });
  return known;
}

TEST(Neighbours, TheGatewayAnswersOnEachKindOfPort) {
  Tor bench;
  bench.introduce4(0, station(1), "10.0.10.2", "10.0.10.1");
  bench.introduce4(6, station(6), "10.0.30.2", "10.0.30.1");
  bench.introduce6(1, station(2), ip6(0x10, 3), ip6(0x10, 1));
  bench.introduce6(7, station(7), ip6(0x40, 3), ip6(0x40, 1));
  const Mac host = station(3);
  const Bytes question = arp_packet(1, host, ip4("10.0.20.2"), Mac{}, ip4("10.0.20.1"));
  const Bytes answer = arp_packet(2, kRouter, ip4("10.0.20.1"), host, ip4("10.0.20.2"));
  EXPECT_EQ(bench.exchange(2, tagged(arp_frame(kAll, host, question), 20)),
            (Frames{{2, tagged(arp_frame(host, kRouter, answer), 20)}}));
  EXPECT_EQ(bench.drops(), Drops{});
}

TEST(Neighbours, WhatIsNotForTheGatewayIsFloodedInTheVlan) {
  Tor bench;
  const Mac host = station(1);
  const Bytes arp = arp_frame(kAll, host, arp_packet(1, host, ip4("10.0.10.2"), Mac{}, ip4("10.0.10.9")));
  EXPECT_EQ(bench.exchange(0, arp), (Frames{{1, arp}, {2, tagged(arp, 10)}}));
  const Bytes target = ip6(0x10, 9);
  const Bytes nd = ethernet_frame(solicited_mac(target), host, 0x86dd,
                                  solicitation(ip6(0x10, 2), solicited_group(target), target, host));
  EXPECT_EQ(bench.exchange(0, nd).size(), 2u);
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 2}})) << "the original, once its copies are on their way";
  // On a routed port nobody else is there.
  EXPECT_EQ(bench.exchange(6, arp_frame(kAll, host, arp_packet(1, host, ip4("10.0.30.2"), Mac{}, ip4("10.0.30.9")))),
            Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}}));
}

TEST(Neighbours, AProbeForTheGatewaysAddressIsDefended) {
  Tor bench;
  const Mac host = station(1);
  const Bytes nobody(4, 0);
  const Bytes probe = arp_frame(kAll, host, arp_packet(1, host, nobody, Mac{}, ip4("10.0.10.1")));
  const Bytes answer = arp_frame(host, kRouter, arp_packet(2, kRouter, ip4("10.0.10.1"), host, nobody));
  EXPECT_EQ(bench.exchange(0, probe), (Frames{{0, answer}}));
  const Bytes other = arp_frame(kAll, host, arp_packet(1, host, nobody, Mac{}, ip4("10.0.10.5")));
  EXPECT_EQ(bench.exchange(0, other), (Frames{{1, other}, {2, tagged(other, 10)}}));
}

TEST(Neighbours, AProxyAnswersForWhatItHasARouteTo) {
  ForwardingState state = bench_state();
  for (auto& subnet : state.subnets) subnet.proxy = subnet.port == 6;
  Tor bench{std::move(state)};
  bench.introduce4(6, station(6), "10.0.30.2", "10.1.2.3");
  const Bytes nowhere = arp_packet(1, station(6), ip4("10.0.30.2"), Mac{}, ip4("172.16.0.1"));
  EXPECT_EQ(bench.exchange(6, arp_frame(kAll, station(6), nowhere)), Frames{});
  const Bytes elsewhere = arp_packet(1, station(7), ip4("10.0.40.2"), Mac{}, ip4("10.1.2.3"));
  EXPECT_EQ(bench.exchange(7, arp_frame(kAll, station(7), elsewhere)), Frames{}) << "a subnet that is no proxy";
}

TEST(Neighbours, AsksForWhomItDoesNotKnowThenForwards) {
  Tor bench;
  const auto to_router = [](const Bytes& packet) { return ethernet_frame(kRouter, kPeer, 0x0800, packet); };
  EXPECT_EQ(bench.exchange(4, to_router(data4("10.0.30.9"))), (Frames{{6, arp_question("10.0.30.1", "10.0.30.9")}}));
  EXPECT_EQ(bench.exchange(4, to_router(data4("10.0.30.9"))), Frames{}) << "not again within 100 ms";
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 2}}));
  bench.engine().run(bench.engine().now() + Duration::ms(100));
  EXPECT_EQ(bench.exchange(4, to_router(data4("10.0.30.9"))).size(), 1u);
  const Mac host = station(9);
  bench.exchange(6, arp_frame(kRouter, host, arp_packet(2, host, ip4("10.0.30.9"), kRouter, ip4("10.0.30.1"))));
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}, {"consumed", 1}}));
  EXPECT_EQ(bench.exchange(4, to_router(data4("10.0.30.9", 9))),
            (Frames{{6, ethernet_frame(host, kRouter, 0x0800, data4("10.0.30.9", 8))}}));
  EXPECT_EQ(bench.drops(), Drops{});
}

TEST(Neighbours, AsksAWholeVlanAndRemembersThePort) {
  Tor bench;
  const Bytes question = arp_question("10.0.10.1", "10.0.10.9");
  EXPECT_EQ(bench.exchange(4, ethernet_frame(kRouter, kPeer, 0x0800, data4("10.0.10.9"))),
            (Frames{{0, question}, {1, question}, {2, tagged(question, 10)}}));
  const Mac host = station(9);
  const Bytes reply = arp_frame(kRouter, host, arp_packet(2, host, ip4("10.0.10.9"), kRouter, ip4("10.0.10.1")));
  EXPECT_EQ(bench.exchange(2, tagged(reply, 10)), Frames{});
  const Bytes in = ipv4_packet({.from = kRemote4, .to = ip4("10.0.10.9"), .ttl = 5, .tos = 46 << 2}, counting(9));
  const Bytes out = ipv4_packet({.from = kRemote4, .to = ip4("10.0.10.9"), .ttl = 4, .tos = 46 << 2}, counting(9));
  EXPECT_EQ(bench.exchange(4, ethernet_frame(kRouter, kPeer, 0x0800, in)),
            (Frames{{2, tagged_frame(host, kRouter, 5 << 13 | 10, 0x0800, out)}}))
      << "DSCP 46 is class 5";
}

TEST(Neighbours, SolicitsAndLearnsFromTheAdvertisement) {
  Tor bench;
  const Bytes target = ip6(0x30, 9);
  const Bytes gateway = ip6(0x30, 1);
  const auto data = [&](uint8_t limit) {
    return ipv6_packet({.from = kRemote6, .to = target, .hop_limit = limit}, udp_datagram(5, 6, counting(20)));
  };
  const Bytes question = ethernet_frame(solicited_mac(target), kRouter, 0x86dd,
                                        solicitation(gateway, solicited_group(target), target, kRouter));
  EXPECT_EQ(bench.exchange(4, ethernet_frame(kRouter, kPeer, 0x86dd, data(9))), (Frames{{6, question}}));
  const Mac host = station(9);
  EXPECT_EQ(
      bench.exchange(6, ethernet_frame(kRouter, host, 0x86dd, advertisement(target, gateway, target, host, 0x60))),
      Frames{});
  EXPECT_EQ(bench.exchange(4, ethernet_frame(kRouter, kPeer, 0x86dd, data(9))),
            (Frames{{6, ethernet_frame(host, kRouter, 0x86dd, data(8))}}));
}

// Stages look at a burst at once; what its first packet teaches is known to the second all the same.
TEST(Neighbours, ThePacketRightBehindTheReplyIsForwarded) {
  Tor bench;
  const Mac host = station(9);
  const Instant soon = bench.engine().now() + Duration::us(1);
  bench.send_at(soon, 6, arp_frame(kRouter, host, arp_packet(2, host, ip4("10.0.30.9"), kRouter, ip4("10.0.30.1"))));
  bench.send_at(soon + Duration::ns(20), 4, ethernet_frame(kRouter, kPeer, 0x0800, data4("10.0.30.9", 9)));
  EXPECT_EQ(bench.run(), (Frames{{6, ethernet_frame(host, kRouter, 0x0800, data4("10.0.30.9", 8))}}));
}

// The host knows the gateway, the gateway not the host: the answer to it asks.
TEST(Neighbours, AReplyToAnUnknownNeighbourAsksForIt) {
  Tor bench;
  const Bytes echo = ipv4_packet({.from = ip4("10.0.30.9"), .to = ip4("10.0.30.1"), .protocol = 1}, icmp4(8, 0, 0, {}));
  const Bytes question = arp_question("10.0.30.1", "10.0.30.9");
  EXPECT_EQ(bench.exchange(6, ethernet_frame(kRouter, station(9), 0x0800, echo)), (Frames{{6, question}}));
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}}));
  bench.engine().run(bench.engine().now() + Duration::ms(100));
  const Bytes expired = ipv4_packet({.from = ip4("10.0.30.9"), .to = kRemote4, .ttl = 1}, udp_datagram(5, 6, {}));
  EXPECT_EQ(bench.exchange(6, ethernet_frame(kRouter, station(9), 0x0800, expired)), (Frames{{6, question}}));
}

TEST(Neighbours, AGratuitousArpMovesANeighbour) {
  Tor bench;
  bench.introduce4(0, station(1), "10.0.10.2", "10.0.10.1");
  const Bytes in = ethernet_frame(kRouter, kPeer, 0x0800, data4("10.0.10.2", 9));
  EXPECT_EQ(bench.exchange(4, in), (Frames{{0, ethernet_frame(station(1), kRouter, 0x0800, data4("10.0.10.2", 8))}}));
  const Bytes gratuitous =
      arp_frame(kAll, station(2), arp_packet(1, station(2), ip4("10.0.10.2"), Mac{}, ip4("10.0.10.2")));
  EXPECT_EQ(bench.exchange(1, gratuitous), (Frames{{0, gratuitous}, {2, tagged(gratuitous, 10)}}));
  EXPECT_EQ(bench.exchange(4, in), (Frames{{1, ethernet_frame(station(2), kRouter, 0x0800, data4("10.0.10.2", 8))}}));
}

TEST(Neighbours, LearnsNobodyFromAnotherSubnetNorItself) {
  Tor bench;
  const Mac host = station(1);
  for (const char* address : {"10.0.20.7", "10.0.10.1", "192.168.0.1"}) {
    bench.exchange(0, arp_frame(kAll, host, arp_packet(1, host, ip4(address), Mac{}, ip4("10.0.10.5"))));
  }
  Mac group = host;
  group[0] |= 1;
  bench.exchange(0, arp_frame(kAll, host, arp_packet(1, group, ip4("10.0.10.6"), Mac{}, ip4("10.0.10.5"))));
  EXPECT_EQ(known_to(bench), 0u);
}

// A subnet's last bits count too: 10.0.30.0/26 ends at .63.
TEST(Neighbours, LearnsWithinASubnetThatEndsInsideAByte) {
  ForwardingState state = bench_state();
  for (auto& subnet : state.subnets) {
    if (subnet.port == 6 && !subnet.is_ipv6) subnet.prefix.length = 26;
  }
  Tor bench{std::move(state)};
  for (const char* address : {"10.0.30.64", "10.0.30.128", "10.0.30.255"}) {
    bench.introduce4(6, station(6), address, "10.0.30.1");
    EXPECT_EQ(known_to(bench), 0u) << address;
  }
  bench.introduce4(6, station(6), "10.0.30.63", "10.0.30.1");
  EXPECT_EQ(known_to(bench), 1u);
}

// Who says that the gateway's address is his own is not answered, which would only confirm him.
TEST(Neighbours, AClaimToTheGatewaysAddressIsNotAnswered) {
  Tor bench;
  const Bytes claim = arp_frame(kAll, station(1), arp_packet(1, station(1), ip4("10.0.10.1"), Mac{}, ip4("10.0.10.1")));
  EXPECT_EQ(bench.exchange(0, claim), (Frames{{1, claim}, {2, tagged(claim, 10)}}));
  EXPECT_EQ(known_to(bench), 0u);
}

TEST(Neighbours, ALinkThatGoesDownTakesItsNeighboursWithIt) {
  Tor bench;
  bench.introduce4(6, station(6), "10.0.30.2", "10.0.30.1");
  bench.introduce4(7, station(7), "10.0.40.2", "10.0.40.1");
  bench.set_link(6, false);
  bench.set_link(6, true);
  EXPECT_EQ(bench.exchange(4, ethernet_frame(kRouter, kPeer, 0x0800, data4("10.0.30.2"))),
            (Frames{{6, arp_question("10.0.30.1", "10.0.30.2")}}));
  EXPECT_EQ(bench.exchange(4, ethernet_frame(kRouter, kPeer, 0x0800, data4("10.0.40.2"))).at(0).bytes.size(), 62u);
}

// RFC 4861 7.1.1: hop limit 255, checksum, code 0, a length that holds the target.
TEST(Neighbours, SolicitationsThatAreNotValidAreNotAnswered) {
  Tor bench;
  const Mac host = station(6);
  const Bytes own = ip6(0x30, 1);
  const Bytes from = ip6(0x30, 2);
  const Bytes good = solicitation(from, own, own, host);
  const auto changed = [&good](size_t at, uint8_t value) {
    Bytes bytes = good;
    bytes[at] = value;
    return bytes;
  };
  const Bytes no_code = ipv6_packet({.from = from, .to = own, .next_header = 58, .hop_limit = 255, .flow_label = 0},
                                    icmp6(from, own, 135, 1, 0, join({own, {1, 1}, mac_bytes(host)})));
  const Bytes short_one = ipv6_packet({.from = from, .to = own, .next_header = 58, .hop_limit = 255, .flow_label = 0},
                                      icmp6(from, own, 135, 0, 0, Bytes{own.begin(), own.begin() + 8}));
  const Bytes group = solicited_group(own);
  const Bytes for_many = advertisement(from, own, group, host, 0x60);
  for (const Bytes& packet :
       {for_many, changed(7, 254), changed(42, static_cast<uint8_t>(good[42] ^ 1)), no_code, short_one}) {
    EXPECT_EQ(bench.exchange(6, ethernet_frame(kRouter, host, 0x86dd, join({packet, Bytes(40, 0)}))), Frames{});
    EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}}));
  }
  EXPECT_EQ(known_to(bench), 0u) << "nor believed";
  EXPECT_EQ(bench.exchange(6, ethernet_frame(kRouter, host, 0x86dd, good)).size(), 1u);
}

// RFC 4861 4.3: to a known neighbour the question may leave its own link address out.
TEST(Neighbours, ASolicitationWithoutItsLinkAddressIsAnswered) {
  Tor bench;
  const Mac host = station(6);
  const Bytes own = ip6(0x30, 1);
  const Bytes from = ip6(0x30, 2);
  const Bytes packet = ipv6_packet({.from = from, .to = own, .next_header = 58, .hop_limit = 255, .flow_label = 0},
                                   icmp6(from, own, 135, 0, 0, own));
  EXPECT_EQ(bench.exchange(6, ethernet_frame(kRouter, host, 0x86dd, packet)),
            (Frames{{6, ethernet_frame(host, kRouter, 0x86dd, advertisement(own, from, own, kRouter, 0xe0))}}));
}

TEST(Neighbours, ArpOfAnotherKindAndHalfAnArpGoNoFurther) {
  Tor bench;
  Bytes other = arp_packet(1, station(6), ip4("10.0.30.2"), Mac{}, ip4("10.0.30.1"));
  other[1] = 6;  // IEEE 802
  EXPECT_EQ(bench.exchange(6, arp_frame(kAll, station(6), other)), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}}));
  const Bytes whole = arp_packet(1, station(6), ip4("10.0.30.2"), Mac{}, ip4("10.0.30.1"));
  EXPECT_EQ(bench.exchange(6, arp_frame(kAll, station(6), {whole.begin(), whole.begin() + 27})), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"truncated", 1}}));
}

}  // namespace
}  // namespace softspine::tests
