// SPDX-License-Identifier: Apache-2.0
// What all three roles do alike: frames between routed ports, compared byte by byte with frames built apart.
#include <numeric>

#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

const Mac kHost = station(6);
const Bytes kHost4 = ip4("10.0.30.2");
const Bytes kGateway4 = ip4("10.0.30.1");
const Bytes kHost6 = ip6(0x30, 2);
const Bytes kGateway6 = ip6(0x30, 1);
const Bytes kFar4 = ip4("10.1.2.3");
const Bytes kFar6 = ip6(0x101, 3);

Bytes to_router(const Mac& from, uint16_t type, const Bytes& packet) {
  return ethernet_frame(kRouter, from, type, packet);
}
Bytes from_router(const Mac& to, uint16_t type, const Bytes& packet) {
  return ethernet_frame(to, kRouter, type, packet);
}

template <typename Role>
class Routing : public testing::Test {
 protected:
  Bench<Role> bench_;
};
using Roles = testing::Types<pipelines::Tor, pipelines::Aggregation, pipelines::Core>;
TYPED_TEST_SUITE(Routing, Roles);

TYPED_TEST(Routing, RewritesMacsTtlAndChecksumAndNothingElse) {
  for (const Bytes& options : {Bytes{}, Bytes{0x94, 0x04, 0, 0}, Bytes(40, 1)}) {
    Ipv4 ip{.from = kHost4, .to = kFar4, .ttl = 64, .tos = 0x6a, .id = 0xffee, .fragment = 0x4000, .options = options};
    const Bytes payload = roce_datagram(0xc123, 0x000456, counting(100));
    const Bytes in = to_router(kHost, 0x0800, ipv4_packet(ip, payload));
    ip.ttl = 63;
    EXPECT_EQ(this->bench_.exchange(6, in), (Frames{{4, from_router(kPeer, 0x0800, ipv4_packet(ip, payload))}}));
  }
  EXPECT_EQ(this->bench_.drops(), Drops{});
}

TYPED_TEST(Routing, RewritesMacsAndHopLimitOfIpv6) {
  Ipv6 ip{.from = kHost6, .to = kFar6, .hop_limit = 2, .traffic_class = 0x6b, .flow_label = 0xabcde};
  const Bytes payload = roce_datagram(0xc123, 0x000456, counting(64));
  const Bytes in = to_router(kHost, 0x86dd, ipv6_packet(ip, payload));
  ip.hop_limit = 1;
  EXPECT_EQ(this->bench_.exchange(6, in), (Frames{{4, from_router(kPeer, 0x86dd, ipv6_packet(ip, payload))}}));
}

// Checksums that are 0x0000 or carry into the next byte when the TTL falls are where an update goes wrong.
TYPED_TEST(Routing, KeepsTheChecksumRightForEveryTtlAndId) {
  Frames expected;
  for (uint32_t i = 0; i < 2048; ++i) {
    Ipv4 ip{
        .from = kHost4, .to = kFar4, .ttl = static_cast<uint8_t>(2 + i % 254), .id = static_cast<uint16_t>(i * 977)};
    this->bench_.send(6, to_router(kHost, 0x0800, ipv4_packet(ip, {})));
    --ip.ttl;
    expected.push_back({4, from_router(kPeer, 0x0800, ipv4_packet(ip, {}))});
  }
  EXPECT_EQ(this->bench_.run(), expected);
}

TYPED_TEST(Routing, CarriesAJumboFrameWhole) {
  Ipv4 ip{.from = kHost4, .to = kFar4, .ttl = 9};
  Bytes payload = udp_datagram(1, 2, counting(1900));
  EXPECT_EQ(this->bench_.exchange(6, to_router(kHost, 0x0800, ipv4_packet(ip, payload)))[0].bytes.size(),
            14u + 20 + 1908);
  // 9216 bytes of layer 3, of which the last are left out, as built-in traffic leaves its payload.
  payload[2] = 0x12;
  Bytes packet = ipv4_packet(ip, payload);
  packet = with_word(with_word(packet, 2, 9216), 10, 0);
  packet = with_word(packet, 10, internet_checksum({packet.begin(), packet.begin() + 20}));
  this->bench_.send(6, to_router(kHost, 0x0800, packet), 14 + 9216);
  this->bench_.run();
  EXPECT_EQ(this->bench_.probe(4).arrivals().back().frame_bytes, 14u + 9216);
  EXPECT_EQ(this->bench_.drops(), Drops{});
}

TYPED_TEST(Routing, TellsTheSenderThatTheTtlIsOver) {
  this->bench_.introduce4(6, kHost, "10.0.30.2", "10.0.30.1");
  this->bench_.drops();
  for (const uint8_t ttl : {uint8_t{0}, uint8_t{1}}) {
    const Bytes packet = ipv4_packet({.from = kHost4, .to = kFar4, .ttl = ttl}, udp_datagram(5, 6, counting(200)));
    const Bytes quoted{packet.begin(), packet.begin() + 96};
    const Bytes error = ipv4_packet({.from = kGateway4, .to = kHost4, .protocol = 1, .id = 0}, icmp4(11, 0, 0, quoted));
    EXPECT_EQ(this->bench_.exchange(6, to_router(kHost, 0x0800, packet)),
              (Frames{{6, from_router(kHost, 0x0800, error)}}));
    EXPECT_EQ(this->bench_.drops(), (Drops{{"ttl_expired", 1}}));
  }
}

TYPED_TEST(Routing, TellsTheSenderThatTheHopLimitIsOver) {
  this->bench_.introduce6(6, kHost, kHost6, kGateway6);
  this->bench_.drops();
  const Bytes packet = ipv6_packet({.from = kHost6, .to = kFar6, .hop_limit = 1}, udp_datagram(5, 6, counting(200)));
  const Bytes quoted{packet.begin(), packet.begin() + 96};
  const Bytes error = ipv6_packet({.from = kGateway6, .to = kHost6, .next_header = 58, .flow_label = 0},
                                  icmp6(kGateway6, kHost6, 3, 0, 0, quoted));
  EXPECT_EQ(this->bench_.exchange(6, to_router(kHost, 0x86dd, packet)),
            (Frames{{6, from_router(kHost, 0x86dd, error)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"ttl_expired", 1}}));
}

// A short packet's quotation ends with the packet: what the MAC padded is not part of it.
TYPED_TEST(Routing, QuotesNoPadding) {
  const Bytes far = ip4("10.1.7.7");
  const Bytes packet = ipv4_packet({.from = far, .to = kFar4, .ttl = 1}, udp_datagram(5, 6, {}));
  const Bytes error =
      ipv4_packet({.from = ip4("10.255.0.1"), .to = far, .protocol = 1, .id = 0}, icmp4(11, 0, 0, packet));
  EXPECT_EQ(this->bench_.exchange(4, padded(to_router(kPeer, 0x0800, packet))),
            (Frames{{4, from_router(kPeer, 0x0800, error)}}));
}

// Of a frame whose payload of zeros is left out the quotation shows the zeros, not the ICRC behind them.
TYPED_TEST(Routing, QuotesTheZerosThatAreLeftOut) {
  const Bytes far = ip4("10.1.7.7");
  const Bytes packet = ipv4_packet({.from = far, .to = kFar4, .ttl = 1}, roce_datagram(9, 1, Bytes(512, 0)));
  Bytes stored{packet.begin(), packet.begin() + 40};
  stored.insert(stored.end(), packet.end() - 4, packet.end());
  const Bytes quoted{packet.begin(), packet.begin() + 96};
  const Bytes error =
      ipv4_packet({.from = ip4("10.255.0.1"), .to = far, .protocol = 1, .id = 0}, icmp4(11, 0, 0, quoted));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, stored), static_cast<uint32_t>(14 + packet.size())),
            (Frames{{4, from_router(kPeer, 0x0800, error)}}));
}

// The key has the MACs with which an error is made, from the switch to itself, and not what lay in memory before.
TYPED_TEST(Routing, AnErrorTakesTheWayOfAFrameFromTheSwitchToItself) {
  ForwardingState state = bench_state();
  const auto adjacency = [](uint8_t n) {
    return dataplane::Adjacency{station(n), kRouter, uint16_t(n % 2 + 4), 9216, 0};
  };
  state.adjacencies.clear();
  for (uint8_t n = 0; n < 64; ++n) state.adjacencies.push_back(adjacency(n));
  state.members.resize(64);
  std::iota(state.members.begin(), state.members.end(), 0U);
  state.groups = {{0, 64}};
  state.hash = dataplane::EcmpHash{{.fields = {dataplane::HashField::kSrcMac, dataplane::HashField::kDstMac}}};
  Bench<TypeParam> bench{state};
  const auto from_itself = [](uint8_t ttl, const Bytes& from) {
    return ethernet_frame(kRouter, kRouter, 0x0800, ipv4_packet({.from = from, .to = ip4("10.2.1.1"), .ttl = ttl}, {}));
  };
  const Frames way = bench.exchange(4, from_itself(9, ip4("10.2.7.7")));
  ASSERT_EQ(way.size(), 1u);
  const Bytes macs{way[0].bytes.begin(), way[0].bytes.begin() + 12};
  for (int i = 0; i < 20; ++i) {
    const Frames error =
        bench.exchange(5, to_router(kPeer, 0x0800, ipv4_packet({.from = ip4("10.2.7.7"), .to = kFar4, .ttl = 1}, {})));
    ASSERT_EQ(error.size(), 1u);
    EXPECT_EQ(error[0].port, way[0].port);
    EXPECT_EQ((Bytes{error[0].bytes.begin(), error[0].bytes.begin() + 12}), macs);
  }
}

TYPED_TEST(Routing, TellsTheSenderThatThereIsNoRoute) {
  const Bytes far4 = ip4("10.1.7.7");
  const Bytes nowhere = ipv4_packet({.from = far4, .to = ip4("172.16.0.1")}, udp_datagram(5, 6, counting(8)));
  const Bytes error =
      ipv4_packet({.from = ip4("10.255.0.1"), .to = far4, .protocol = 1, .id = 0}, icmp4(3, 0, 0, nowhere));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, nowhere)),
            (Frames{{4, from_router(kPeer, 0x0800, error)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"no_route", 1}}));
  const Bytes far6 = ip6(0x101, 7);
  const Bytes nowhere6 = ipv6_packet({.from = far6, .to = ip6(0x999, 1)}, udp_datagram(5, 6, counting(8)));
  const Bytes error6 = ipv6_packet({.from = ip6(0x255, 1), .to = far6, .next_header = 58, .flow_label = 0},
                                   icmp6(ip6(0x255, 1), far6, 1, 0, 0, nowhere6));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x86dd, nowhere6)),
            (Frames{{4, from_router(kPeer, 0x86dd, error6)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"no_route", 1}}));
}

TYPED_TEST(Routing, TellsTheSenderThatAGroupHasNoMember) {
  const Bytes far4 = ip4("10.1.7.7");
  const Bytes packet = ipv4_packet({.from = far4, .to = ip4("10.3.0.1")}, udp_datagram(5, 6, counting(8)));
  const Bytes error =
      ipv4_packet({.from = ip4("10.255.0.1"), .to = far4, .protocol = 1, .id = 0}, icmp4(3, 0, 0, packet));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, packet)),
            (Frames{{4, from_router(kPeer, 0x0800, error)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"no_member", 1}}));
}

TYPED_TEST(Routing, TellsTheMtuToASenderThatForbidsFragments) {
  const Bytes far = ip4("10.1.7.7");
  Ipv4 ip{.from = far, .to = ip4("10.4.0.1"), .fragment = 0x4000};
  const Bytes fits = ipv4_packet(ip, udp_datagram(5, 6, counting(1500 - 28)));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, fits)).at(0).port, 5);
  const Bytes too_big = ipv4_packet(ip, udp_datagram(5, 6, counting(1501 - 28)));
  const Bytes quoted{too_big.begin(), too_big.begin() + 96};
  const Bytes error =
      ipv4_packet({.from = ip4("10.255.0.1"), .to = far, .protocol = 1, .id = 0}, icmp4(3, 4, 1500, quoted));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, too_big)),
            (Frames{{4, from_router(kPeer, 0x0800, error)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"mtu_exceeded", 1}}));
  ip.fragment = 0;  // no switch fragments; who did not ask is not told
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, ipv4_packet(ip, udp_datagram(5, 6, counting(1473))))),
            Frames{});
  EXPECT_EQ(this->bench_.drops(), (Drops{{"mtu_exceeded", 1}}));
}

TYPED_TEST(Routing, TellsThatAnIpv6PacketIsTooBig) {
  const Bytes far = ip6(0x101, 7);
  const Bytes packet = ipv6_packet({.from = far, .to = ip6(0x104, 1)}, udp_datagram(5, 6, counting(1501 - 48)));
  const Bytes quoted{packet.begin(), packet.begin() + 96};
  const Bytes error = ipv6_packet({.from = ip6(0x255, 1), .to = far, .next_header = 58, .flow_label = 0},
                                  icmp6(ip6(0x255, 1), far, 2, 0, 1500, quoted));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x86dd, packet)),
            (Frames{{4, from_router(kPeer, 0x86dd, error)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"mtu_exceeded", 1}}));
}

TYPED_TEST(Routing, SaysNothingAboutWhatMustNotBeAnswered) {
  const Bytes far = ip4("10.1.7.7");
  const auto expired = [&](uint8_t protocol, uint16_t fragment, const Bytes& body) {
    return ipv4_packet({.from = far, .to = kFar4, .protocol = protocol, .ttl = 1, .fragment = fragment}, body);
  };
  for (const Bytes& packet : {expired(1, 0, icmp4(3, 1, 0, counting(28))), expired(1, 0, icmp4(11, 0, 0, counting(28))),
                              expired(17, 0x0001, counting(40)), expired(17, 0x2001, counting(40))}) {
    EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, packet)), Frames{});
    EXPECT_EQ(this->bench_.drops(), (Drops{{"ttl_expired", 1}}));
  }
  const Bytes far6 = ip6(0x101, 7);
  const Bytes error6 = icmp6(far6, kFar6, 1, 0, 0, counting(48));
  const Bytes from_nobody(16, 0);
  for (const Bytes& packet :
       {ipv6_packet({.from = far6, .to = kFar6, .next_header = 58, .hop_limit = 1}, error6),
        ipv6_packet({.from = from_nobody, .to = kFar6, .hop_limit = 1}, udp_datagram(5, 6, {}))}) {
    EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x86dd, packet)), Frames{});
    EXPECT_EQ(this->bench_.drops(), (Drops{{"ttl_expired", 1}}));
  }
  // A first fragment and an echo request are answered.
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, expired(17, 0x2000, counting(40)))).size(), 1u);
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, expired(1, 0, icmp4(8, 0, 0, {})))).size(), 1u);
  for (const uint8_t type : {uint8_t{128}, uint8_t{129}}) {  // of IPv6's echo the request and the reply
    const Bytes echo =
        ipv6_packet({.from = far6, .to = kFar6, .next_header = 58, .hop_limit = 1}, icmp6(far6, kFar6, type, 0, 0, {}));
    EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x86dd, echo)).size(), 1u) << int{type};
  }
}

TYPED_TEST(Routing, AnswersAnEchoToEachOfItsAddresses) {
  const Bytes far = ip4("10.1.7.7");
  for (const char* own : {"10.255.0.1", "10.0.10.1", "10.0.30.1"}) {
    const auto echo = [&](uint8_t type, const Bytes& from, const Bytes& to, uint8_t ttl) {
      return ipv4_packet({.from = from, .to = to, .protocol = 1, .ttl = ttl, .tos = 0x20, .id = 77, .fragment = 0x4000},
                         icmp4(type, 0, 0x12340001, counting(57)));
    };
    EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, echo(8, far, ip4(own), 1))),
              (Frames{{4, from_router(kPeer, 0x0800, echo(0, ip4(own), far, 64))}}));
  }
  const Bytes far6 = ip6(0x101, 7);
  for (const Bytes& own : {ip6(0x255, 1), ip6(0x20, 1), ip6(0x30, 1)}) {
    const auto echo = [&](uint8_t type, const Bytes& from, const Bytes& to, uint8_t limit) {
      return ipv6_packet({.from = from, .to = to, .next_header = 58, .hop_limit = limit},
                         icmp6(from, to, type, 0, 0x12340001, counting(57)));
    };
    EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x86dd, echo(128, far6, own, 1))),
              (Frames{{4, from_router(kPeer, 0x86dd, echo(129, own, far6, 64))}}));
  }
  EXPECT_EQ(this->bench_.drops(), Drops{});
}

TYPED_TEST(Routing, TellsThatNobodyListensAtAPort) {
  const Bytes far = ip4("10.1.7.7");
  const Bytes own = ip4("10.255.0.1");
  const Bytes packet = ipv4_packet({.from = far, .to = own}, udp_datagram(5, 179, counting(8)));
  const Bytes error = ipv4_packet({.from = own, .to = far, .protocol = 1, .id = 0}, icmp4(3, 3, 0, packet));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, packet)),
            (Frames{{4, from_router(kPeer, 0x0800, error)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"consumed", 1}}));
  const Bytes far6 = ip6(0x101, 7);
  const Bytes own6 = ip6(0x255, 1);
  const Bytes packet6 = ipv6_packet({.from = far6, .to = own6}, udp_datagram(5, 179, counting(8)));
  const Bytes error6 =
      ipv6_packet({.from = own6, .to = far6, .next_header = 58, .flow_label = 0}, icmp6(own6, far6, 1, 4, 0, packet6));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x86dd, packet6)),
            (Frames{{4, from_router(kPeer, 0x86dd, error6)}}));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"consumed", 1}}));
}

TYPED_TEST(Routing, WhatItDoesNotSpeakEndsUnsupported) {
  const Bytes tcp(20, 0x11);
  this->bench_.exchange(
      4, to_router(kPeer, 0x0800, ipv4_packet({.from = ip4("10.1.7.7"), .to = ip4("10.255.0.1"), .protocol = 6}, tcp)));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"unsupported", 1}}));
  this->bench_.exchange(
      4, to_router(kPeer, 0x86dd, ipv6_packet({.from = ip6(0x101, 7), .to = ip6(0x255, 1), .next_header = 6}, tcp)));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"unsupported", 1}}));
  this->bench_.exchange(4, to_router(kPeer, 0x88cc, counting(46)));
  EXPECT_EQ(this->bench_.drops(), (Drops{{"unsupported", 1}}));
}

// From the first instant: a burst of 100, then one in 100 µs.
TYPED_TEST(Routing, LimitsItsErrors) {
  const Bytes packet = ipv4_packet({.from = ip4("10.1.7.7"), .to = kFar4, .ttl = 1}, udp_datagram(5, 6, {}));
  for (int i = 0; i < 150; ++i) this->bench_.send(4, to_router(kPeer, 0x0800, packet));
  EXPECT_EQ(this->bench_.run().size(), 100u);
  const Instant start = this->bench_.engine().now() + Duration::ms(20);
  for (int i = 0; i < 1000; ++i)
    this->bench_.send_at(start + Duration::us(10) * i, 4, to_router(kPeer, 0x0800, packet));
  size_t errors = 0;
  for (int i = 0; i < 40; ++i) errors += this->bench_.run().size();
  EXPECT_NEAR(static_cast<double>(errors), 100 + 1000 * 10 / 100, 1);
  EXPECT_EQ(this->bench_.drops(), (Drops{{"ttl_expired", 1150}}));
}

// What a switch says to itself, or to somebody it has no way to, ends there and is no packet of anybody's.
TYPED_TEST(Routing, DoesNotAnswerItself) {
  const Bytes own = ip4("10.255.0.1");
  const Bytes echo = ipv4_packet({.from = own, .to = own, .protocol = 1}, icmp4(8, 0, 0, counting(8)));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, echo)), Frames{});
  EXPECT_EQ(this->bench_.drops(), (Drops{{"consumed", 1}}));
  const Bytes expired = ipv4_packet({.from = own, .to = kFar4, .ttl = 1}, udp_datagram(5, 6, {}));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, expired)), Frames{});
  EXPECT_EQ(this->bench_.drops(), (Drops{{"ttl_expired", 1}}));
  const Bytes lost = ipv4_packet({.from = ip4("172.16.0.9"), .to = kFar4, .ttl = 1}, udp_datagram(5, 6, {}));
  EXPECT_EQ(this->bench_.exchange(4, to_router(kPeer, 0x0800, lost)), Frames{});
  EXPECT_EQ(this->bench_.drops(), (Drops{{"ttl_expired", 1}}));
}

}  // namespace
}  // namespace softspine::tests
