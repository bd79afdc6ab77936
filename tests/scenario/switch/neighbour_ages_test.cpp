// SPDX-License-Identifier: Apache-2.0
// What a ToR knows of its hosts ages: ARP entries and the ports of MACs, each in its own time, and what becomes of
// packets meanwhile. A host at port 1 is placed by control, as built-in ones are: 10.0.10.7.
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

using Tor = Bench<pipelines::Tor>;

const Mac kAgingHost = station(7);
const std::string kAddress = "10.0.10.7";
constexpr uint8_t kLosslessTos = 3 << 2;  // DSCP 3, as TOS

ForwardingState aging(Duration arp, Duration fdb, UnicastMiss miss) {
  ForwardingState state = bench_state();
  state.ages = NeighbourAges{.arp_timeout = arp, .fdb_aging_time = fdb, .fdb_unicast_miss = miss};
  std::vector<PrefixValue> routes;
  const auto host = static_cast<uint32_t>(state.adjacencies.size());
  state.adjacencies.push_back({.destination = kAgingHost, .source = kRouter, .port = 1, .vlan = 10});
  routes.push_back({prefix4(kAddress, 32), RouteValue{RouteKind::kAdjacency, host}.packed()});
  routes.push_back({prefix4("10.0.10.0", 24), RouteValue{RouteKind::kSubnet, 0}.packed()});
  routes.push_back({prefix4("10.0.10.1", 32), RouteValue{RouteKind::kLocal, 0}.packed()});
  state.ipv4 = PrefixTrie{routes};
  std::array<uint32_t, 8> limits{};
  limits.fill(BufferPlan::kUnlimitedCells);
  QosPlan plan = QosPlan::plain(kBenchPorts, limits);
  for (PortQosPlan& port : plan.ports) port.pfc_enabled = 1 << 3;
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  return state;
}

Bytes to_host(uint8_t tos, uint8_t ttl = 64) {
  return ipv4_packet({.from = ip4("10.1.7.7"), .to = ip4(kAddress), .ttl = ttl, .tos = tos},
                     udp_datagram(5, 6, counting(20)));
}
// From port 4, a fabric port, and as it leaves.
Bytes sent(uint8_t tos) {
  return ethernet_frame(kRouter, kPeer, 0x0800, to_host(tos));
}
Bytes received(uint8_t tos) {
  return ethernet_frame(kAgingHost, kRouter, 0x0800, to_host(tos, 63));
}
Bytes tagged_received(uint8_t tos) {
  const Bytes plain = received(tos);
  const auto tci = static_cast<uint16_t>((tos == kLosslessTos ? 3 : 1) << 13 | 10);
  return join(
      {{plain.begin(), plain.begin() + 12}, join({be16(0x8100), be16(tci)}), {plain.begin() + 12, plain.end()}});
}
Bytes arp_question() {
  return padded(ethernet_frame(kAll, kRouter, 0x0806, arp_packet(1, kRouter, ip4("10.0.10.1"), Mac{}, ip4(kAddress))));
}
Bytes tagged_question() {
  const Bytes plain = arp_question();
  return join({{plain.begin(), plain.begin() + 12}, join({be16(0x8100), be16(10)}), {plain.begin() + 12, plain.end()}});
}
void host_says_something(Tor& bench) {
  (void)bench.exchange(1, ethernet_frame(station(99), kAgingHost, 0x88b5, Bytes(50, 1)));
  (void)bench.drops();
}

TEST(NeighbourAges, APacketIsFloodedInItsVlanOnceThePortOfItsMacIsForgottenAndArpStillKnowsTheMac) {
  Tor bench{aging(Duration::s(1), Duration::ms(10), UnicastMiss::kFlood)};
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)), (Frames{{1, received(kLosslessTos)}}));
  bench.run_for(Duration::ms(9));
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)),
            (Frames{{0, received(kLosslessTos)}, {1, received(kLosslessTos)}, {2, tagged_received(kLosslessTos)}}));
  EXPECT_EQ(bench.node().tables().unknown_floods, 1u);
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}})) << "the original";
}

TEST(NeighbourAges, AFrameOfTheHostMakesItsPortKnownForAnotherAge) {
  Tor bench{aging(Duration::s(1), Duration::ms(10), UnicastMiss::kFlood)};
  bench.run_for(Duration::ms(20));
  host_says_something(bench);
  bench.run_for(Duration::ms(7));
  EXPECT_EQ(bench.exchange(4, sent(0)), (Frames{{1, received(0)}}));
  bench.run_for(Duration::ms(3));
  EXPECT_EQ(bench.exchange(4, sent(0)).size(), 3u);
}

// As in the incident: also by the ports to other switches, whose routers know nobody of that MAC.
TEST(NeighbourAges, FloodAllTakesThePortsToOtherSwitchesTooAndNotTheOneOfArrival) {
  Tor bench{aging(Duration::s(1), Duration::ms(1), UnicastMiss::kFloodAll)};
  bench.run_for(Duration::ms(5));
  std::vector<uint16_t> ports;
  for (const Frame& frame : bench.exchange(4, sent(kLosslessTos))) ports.push_back(frame.port);
  EXPECT_EQ(ports, (std::vector<uint16_t>{0, 1, 2, 5, 6, 7}));
  // What is sent to all stations stays in its VLAN.
  const Bytes broadcast = ethernet_frame(kAll, kAgingHost, 0x88b5, Bytes(50, 1));
  EXPECT_EQ(bench.exchange(1, broadcast).size(), 2u);
}

TEST(NeighbourAges, TheCureDropsLosslessPacketsAsksAndFloodsTheOthers) {
  Tor bench{aging(Duration::s(1), Duration::ms(10), UnicastMiss::kDropLossless)};
  bench.run_for(Duration::ms(20));
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)),
            (Frames{{0, arp_question()}, {1, arp_question()}, {2, tagged_question()}}));
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}}));
  EXPECT_EQ(bench.exchange(4, sent(0)).size(), 3u) << "flooded";
  EXPECT_EQ(bench.drops(), (Drops{{"consumed", 1}}));
  // The answer is a frame of the host: its port is known.
  const Bytes answer = arp_packet(2, kAgingHost, ip4(kAddress), kRouter, ip4("10.0.10.1"));
  (void)bench.exchange(1, ethernet_frame(kRouter, kAgingHost, 0x0806, answer));
  (void)bench.drops();
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)), (Frames{{1, received(kLosslessTos)}}));
}

TEST(NeighbourAges, OfASwitchWithoutBuffersThatPauseTheCureDropsNothing) {
  ForwardingState state = aging(Duration::s(1), Duration::ms(10), UnicastMiss::kDropLossless);
  state.plan = nullptr;
  Tor bench{state};
  bench.run_for(Duration::ms(20));
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)).size(), 3u) << "flooded";
}

TEST(NeighbourAges, DropDropsEveryPacketAndBridgedOnesAreNotRouted) {
  Tor bench{aging(Duration::s(1), Duration::ms(10), UnicastMiss::kDrop)};
  bench.run_for(Duration::ms(20));
  (void)bench.exchange(4, sent(0));
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}}));
  EXPECT_EQ(bench.exchange(0, ethernet_frame(kAgingHost, station(1), 0x0800, to_host(0))), Frames{});
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}}));
}

// A host that is heard of, but not by ARP: its MAC is asked for all the same.
TEST(NeighbourAges, AnOldArpEntryIsNoneAndTheSwitchAsks) {
  Tor bench{aging(Duration::ms(10), Duration::s(1), UnicastMiss::kFlood)};
  bench.run_for(Duration::ms(8));
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)), (Frames{{1, received(kLosslessTos)}}));
  bench.run_for(Duration::ms(2));
  host_says_something(bench);
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)),
            (Frames{{0, arp_question()}, {1, arp_question()}, {2, tagged_question()}}));
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}}));
  const Bytes answer = arp_packet(2, kAgingHost, ip4(kAddress), kRouter, ip4("10.0.10.1"));
  (void)bench.exchange(1, ethernet_frame(kRouter, kAgingHost, 0x0806, answer));
  EXPECT_EQ(bench.exchange(4, sent(kLosslessTos)), (Frames{{1, received(kLosslessTos)}}));
  bench.run_for(Duration::ms(9));
  (void)bench.drops();
  (void)bench.exchange(4, sent(kLosslessTos));
  EXPECT_EQ(bench.drops(), (Drops{{"neighbour_incomplete", 1}})) << "as old as it may be, since the answer";
}

TEST(NeighbourAges, ALinkThatGoesDownTakesThePortsOfItsMacsAndNotTheArpEntries) {
  Tor bench{aging(Duration::s(1), Duration::s(1), UnicastMiss::kFlood)};
  bench.set_link(1, false);
  bench.set_link(1, true);
  EXPECT_EQ(bench.exchange(4, sent(0)).size(), 3u) << "flooded";
  host_says_something(bench);
  EXPECT_EQ(bench.exchange(4, sent(0)), (Frames{{1, received(0)}}));
}

}  // namespace
}  // namespace softspine::tests
