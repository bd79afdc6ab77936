// SPDX-License-Identifier: Apache-2.0
// Switches that send from one address at all of their ports, in captures that do not say which way frames went, or
// where links lead.
#include "analysis/storm/node_macs.hpp"

#include <gtest/gtest.h>

#include "analysis/storm/storm_analysis.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::ethernet;
using tests::kSourceBase;
using tests::pfc_frame;
using tests::Recording;
using tests::Texts;

constexpr uint8_t kH1 = 1;
constexpr uint8_t kTor1 = 0xa1;
constexpr uint8_t kTor2 = 0xa2;
constexpr uint8_t kSpine = 0xb1;

// h1 – tor1 – spine – tor2 – h2, and h9 at tor1: who was captured, by number.
const Texts kPorts{"h1:eth0", "tor1:a", "tor1:b", "spine:a", "spine:b", "tor2:a", "tor2:b", "h2:eth0", "tor1:c"};
enum Place : uint32_t { kAtH1, kTor1ToH1, kTor1Up, kSpineToTor1, kSpineToTor2, kTor2Up, kTor2ToH2, kAtH2, kTor1ToH9 };

KnownFabric fabric(std::unordered_map<uint64_t, std::string> node_of_mac = {}) {
  return {.links = {{"h1:eth0", "tor1:a"},
                    {"tor1:b", "spine:a"},
                    {"spine:b", "tor2:a"},
                    {"tor2:b", "h2:eth0"},
                    {"tor1:c", "h9:eth0"}},
          .tiers = {{"h1", 0}, {"h2", 0}, {"h9", 0}, {"tor1", 1}, {"tor2", 1}, {"spine", 2}},
          .port_of_mac = {},
          .port_of_interface = {},
          .listed = {},
          .node_of_mac = std::move(node_of_mac)};
}

Recording of_ports(const Texts& names) {
  Recording out{.interfaces = {}, .recorder = PauseRecorder{}};
  for (const std::string& name : names) out.interfaces.push_back(ethernet(name));
  return out;
}

struct Seen {
  Place place;
  uint8_t source;
};

// Each source at each place once, 100 us apart, so that none is another's copy; with the links of the fabric.
std::set<std::string> pauses(const std::vector<Seen>& all, const KnownFabric& known) {
  Recording it = of_ports(kPorts);
  int64_t at = 0;
  for (const Seen& seen : all) it.frame(seen.place, Way::kUnknown, at += 100, pfc_frame(seen.source, 8, 0xffff));
  const auto out = tests::pauses_of(it.log(known));
  return {out.begin(), out.end()};
}

using Pauses = std::set<std::string>;

TEST(NodeMacs, ASourceAtTwoPortsThatLeadToTwoNodesIsTheNodesOwn) {
  EXPECT_EQ(pauses({{kTor1ToH1, kH1}, {kTor1Up, kTor1}, {kTor1ToH9, kTor1}}, fabric()),
            (Pauses{"h1:eth0 stops tor1:a", "tor1:b stops spine:a", "tor1:c stops h9:eth0"}));
}

// spine is known by its two links, tor1 by spine's other source there, and h1 by tor1's.
TEST(NodeMacs, EveryOtherSourceIsOfTheOtherEnd) {
  EXPECT_EQ(pauses({{kSpineToTor1, kTor1},
                    {kSpineToTor1, kSpine},
                    {kSpineToTor2, kSpine},
                    {kTor1Up, kTor1},
                    {kTor2Up, kSpine},
                    {kTor2Up, kTor2},
                    {kTor2ToH2, kTor2}},
                   fabric()),
            (Pauses{"tor1:b stops spine:a", "spine:a stops tor1:b", "spine:b stops tor2:a", "tor2:a stops spine:b",
                    "tor2:b stops h2:eth0"}));
}

TEST(NodeMacs, WhereNothingTellsASourceIsANodeOfItsOwn) {
  EXPECT_EQ(pauses({{kTor1Up, kTor1}, {kSpineToTor1, kTor1}}, fabric()),
            (Pauses{"02:00:00:00:00:a1 stops peer of 02:00:00:00:00:a1",
                    "02:00:00:00:00:a1 at spine:a stops peer of 02:00:00:00:00:a1 at spine:a"}));
  EXPECT_EQ(pauses({{kTor1Up, kTor1}, {kSpineToTor1, kTor1}}, fabric({{kSourceBase + kTor1, "tor1"}})),
            Pauses{"tor1:b stops spine:a"})
      << "the list tells";
}

// Three sources at one port: a mirror of several, whatever its name says.
TEST(NodeMacs, APlaceOfMoreThanTwoSourcesTellsNothing) {
  const auto found = pauses({{kTor1Up, kTor1}, {kTor1Up, kSpine}, {kTor1Up, kH1}, {kTor1ToH9, kTor1}}, fabric());
  EXPECT_TRUE(found.contains("02:00:00:00:00:a1 stops peer of 02:00:00:00:00:a1")) << *found.begin();
}

// Its ToR's address is at both of its ports, and is not its own.
TEST(NodeMacs, OfAHostWithTwoPortsAtOneSwitchTheSwitchIsNotItsOwn) {
  Recording it = of_ports({"gpu7:nic0", "gpu7:nic1"});
  const KnownFabric known{.links = {{"gpu7:nic0", "leaf:a"}, {"gpu7:nic1", "leaf:b"}},
                          .tiers = {{"gpu7", 0}, {"leaf", 1}},
                          .port_of_mac = {},
                          .port_of_interface = {}};
  for (int64_t at = 0; at < 10'000; at += 100) {
    it.frame(0, Way::kUnknown, at, pfc_frame(kTor1, 8, 0xffff));
    it.frame(1, Way::kUnknown, at + 30, pfc_frame(kTor1, 8, 0xffff));
    it.frame(1, Way::kUnknown, at + 40, pfc_frame(kH1, 8, 0xffff));
  }
  for (const std::string& pause : tests::pauses_of(it.log(known))) EXPECT_EQ(pause.find("gpu7:nic0 stops"), pause.npos);
}

// leaf01 pauses two neighbours at nearly the same time; both ends of each link were captured, 300 ns apart.
Recording two_links(Way out, Way in, int64_t between_ns) {
  Recording it = of_ports({"leaf01:Ethernet0", "leaf01:Ethernet4", "gpu1:eth0", "spine01:Ethernet0"});
  for (int64_t at = 0; at < 10'000; at += 100) {
    const auto frame = pfc_frame(kTor1, 8, 0xffff);
    it.frame_ns(0, out, at * 1'000, frame);
    if (between_ns == 0) it.frame_ns(1, out, at * 1'000, frame);
    it.frame_ns(2, in, at * 1'000 + 300, frame);
    if (between_ns != 0) it.frame_ns(1, out, at * 1'000 + between_ns, frame);
    it.frame_ns(3, in, at * 1'000 + between_ns + 300, frame);
  }
  return it;
}

TEST(PortLinks, EndsOfALinkAreThoseThatSawTheSameFramesTheLeastTimeApart) {
  Recording it = two_links(Way::kOut, Way::kIn, 5'000);
  const PauseLog log = it.log();
  EXPECT_EQ(tests::pauses_of(log),
            (Texts{"leaf01:Ethernet0 stops gpu1:eth0", "leaf01:Ethernet4 stops spine01:Ethernet0"}));
  EXPECT_EQ(log.copies, 200u);
  const Analysis found = analyse(log);
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(found.storms[0].frames, 200u) << "of 400 that were captured";
}

// spine01 pauses leaf01, too. gpu1 only hears, so without ways it may be in step with leaf01:Ethernet0 for all we know.
TEST(PortLinks, WithoutWaysEndsAreThoseThatSawTheFramesOfBoth) {
  Recording it = of_ports({"leaf01:Ethernet0", "leaf01:Ethernet4", "gpu1:eth0", "spine01:Ethernet0"});
  for (int64_t ns = 0; ns < 10'000'000; ns += 100'000) {
    it.frame_ns(0, Way::kUnknown, ns, pfc_frame(kTor1, 8, 0xffff));
    it.frame_ns(2, Way::kUnknown, ns + 300, pfc_frame(kTor1, 8, 0xffff));
    it.frame_ns(3, Way::kUnknown, ns + 3'000, pfc_frame(kSpine, 8, 0xffff));
    it.frame_ns(1, Way::kUnknown, ns + 3'300, pfc_frame(kSpine, 8, 0xffff));
    it.frame_ns(1, Way::kUnknown, ns + 5'000, pfc_frame(kTor1, 8, 0xffff));
    it.frame_ns(3, Way::kUnknown, ns + 5'300, pfc_frame(kTor1, 8, 0xffff));
  }
  const PauseLog log = it.log();
  EXPECT_EQ(log.ports.at(1).peer, 3u);
  EXPECT_NE(log.ports.at(0).peer, 2u);
  const PauseLog told = it.log({.links = {},
                                .tiers = {},
                                .port_of_mac = {},
                                .port_of_interface = {},
                                .listed = {},
                                .node_of_mac = {{kSourceBase + kTor1, "leaf01"}, {kSourceBase + kSpine, "spine01"}}});
  EXPECT_EQ(tests::pauses_of(told),
            (Texts{"leaf01:Ethernet0 stops gpu1:eth0", "spine01:Ethernet0 stops leaf01:Ethernet4",
                   "leaf01:Ethernet4 stops spine01:Ethernet0"}));
}

// tor1 and tor2 hear the spine, which was not captured, at the same instants: they are no neighbours.
TEST(PortLinks, TwoThatHearTheSameSourceInStepAreNoEnds) {
  for (const Way way : {Way::kUnknown, Way::kIn}) {
    Recording it = of_ports({"tor1:up", "tor2:up"});
    for (int64_t at = 0; at < 10'000; at += 100) {
      it.frame_ns(0, way, at * 1'000, pfc_frame(kSpine, 8, 0xffff));
      it.frame_ns(1, way, at * 1'000 + 300, pfc_frame(kSpine, 8, 0xffff));
    }
    const PauseLog log = it.log();
    EXPECT_NE(log.ports.at(0).peer, 1u);
  }
}

TEST(PortLinks, EndsAreNotFartherApartThanACableIsLong) {
  for (const int64_t ns : {1'900, 2'100}) {
    Recording it = of_ports({"leaf01:a", "leaf01:b", "gpu1:eth0"});
    for (int64_t at = 0; at < 10'000; at += 100) {
      it.frame_ns(0, Way::kOut, at * 1'000, pfc_frame(kTor1, 8, 0xffff));
      it.frame_ns(1, Way::kOut, at * 1'000 + 50'000, pfc_frame(kTor1, 8, 0xffff));
      it.frame_ns(2, Way::kIn, at * 1'000 + ns, pfc_frame(kTor1, 8, 0xffff));
    }
    EXPECT_EQ(it.log().ports.at(0).peer == 2, ns == 1'900);
  }
}

// A frame that comes in with the node's own address is of no port of the node.
TEST(SenderEnds, AFrameThatCameBackIsOfNoPortOfTheNode) {
  Recording it = of_ports({"leaf01:a", "leaf01:b", "leaf01:c"});
  it.frame(0, Way::kOut, 1, pfc_frame(kTor1, 8, 0xffff));
  it.frame(2, Way::kOut, 30, pfc_frame(kTor1, 8, 0xffff));
  it.frame(1, Way::kIn, 60, pfc_frame(kTor1, 8, 0x1234));
  const PauseLog log = it.log({.links = {},
                               .tiers = {},
                               .port_of_mac = {},
                               .port_of_interface = {},
                               .listed = {},
                               .node_of_mac = {{kSourceBase + kTor1, "leaf01"}}});
  ASSERT_EQ(log.pauses.size(), 3u);
  for (const Pause& pause : log.pauses) EXPECT_NE(log.node_of(pause.from), log.node_of(pause.to));
}

// Which of the two each of them reached nobody knows; but all are of leaf01.
TEST(PortLinks, OfFramesAtOneInstantTheEndsAreNotGuessed) {
  for (const int64_t between : {0, 900}) {
    Recording it = two_links(Way::kOut, Way::kIn, between);
    const PauseLog log = it.log();
    for (const uint32_t port : {0U, 1U, 2U, 3U}) {
      const uint32_t peer = log.ports[port].peer;
      EXPECT_FALSE(peer != kNone && log.ports[peer].is_captured) << between;
    }
    const Analysis found = analyse(log);
    ASSERT_EQ(found.storms.size(), 1u);
    EXPECT_EQ(log.nodes[found.storms[0].root].name, "leaf01");
  }
}

// Two ports of one switch, in files that do not name it: nothing says that they are of two nodes, unless a frame left
// one and came in at the other.
TEST(PortLinks, PlacesWithoutANodeAreEndsIfTheirWaysAreKnown) {
  for (const bool are_known : {false, true}) {
    Recording it = of_ports({"eth0", "eth4", "eth8"});
    for (int64_t at = 0; at < 10'000; at += 100) {
      it.frame(0, are_known ? Way::kOut : Way::kUnknown, at, pfc_frame(kTor1, 8, 0xffff));
      it.frame(1, are_known ? Way::kIn : Way::kUnknown, at + 1, pfc_frame(kTor1, 8, 0xffff));
      it.frame(2, are_known ? Way::kOut : Way::kUnknown, at + 5, pfc_frame(kTor1, 8, 0xffff));
    }
    const PauseLog log = it.log();
    EXPECT_EQ(log.ports.at(0).peer == 1, are_known);
    EXPECT_NE(log.ports.at(2).peer, 1u);
  }
}

// A listed switch tells that a frame came in; where it left nobody knows, but it is one frame.
TEST(SenderEnds, AFrameOfUnknownWayIsACopyOfTheOneThatIsKnownToHaveComeIn) {
  Recording it = of_ports({"h1:eth0", "leaf01:a"});
  for (int64_t at = 0; at < 10'000; at += 100) {
    it.frame(0, Way::kUnknown, at, pfc_frame(kH1, 8, 0xffff));
    it.frame(1, Way::kUnknown, at + 1, pfc_frame(kH1, 8, 0xffff));
  }
  const PauseLog log = it.log({.links = {},
                               .tiers = {},
                               .port_of_mac = {},
                               .port_of_interface = {},
                               .listed = {},
                               .node_of_mac = {{kSourceBase + kTor1, "leaf01"}}});
  EXPECT_EQ(tests::pauses_of(log), Texts{"02:00:00:00:00:01 stops leaf01:a"});
  EXPECT_EQ(log.copies, 100u);
}

// One address at two ports of one switch, in step: neither is the other's copy.
TEST(SenderEnds, TwoPortsOfOneNodeAreNoCopies) {
  Recording it = of_ports({"leaf01:a", "leaf01:b"});
  for (int64_t at = 0; at < 10'000; at += 100) {
    it.frame(0, Way::kUnknown, at, pfc_frame(kTor1, 8, 0xffff));
    it.frame(1, Way::kUnknown, at + 1, pfc_frame(kTor1, 8, 0xffff));
  }
  const PauseLog log = it.log();
  EXPECT_EQ(log.copies, 0u);
  EXPECT_EQ(log.pauses.size(), 2u);
}

// 64 ports of one address within 10 us, each captured at both ends.
TEST(CopyLog, ComparesAsManyPortsAsASwitchHas) {
  constexpr uint32_t kPairs = 31;
  CopyLog log;
  for (int64_t round = 0; round < 10; ++round) {
    for (uint32_t i = 0; i < kPairs; ++i) {
      const PauseFrame frame{.source = kTor1, .enabled = 8, .quanta = {}};
      log.seen(i, Instant::at_ps((round * 100'000 + 100 * i) * 1'000), frame);
    }
    for (uint32_t i = 0; i < kPairs; ++i) {
      const PauseFrame frame{.source = kTor1, .enabled = 8, .quanta = {}};
      log.seen(kPairs + i, Instant::at_ps((round * 100'000 + 100 * i + 4'000) * 1'000), frame);
    }
  }
  for (uint32_t i = 0; i < kPairs; ++i) {
    EXPECT_TRUE(log.is_copy(kPairs + i, i)) << i;
    EXPECT_EQ(log.apart(i, kPairs + i), Duration::us(4)) << i;
  }
  EXPECT_EQ(log.apart(0, 2 * kPairs - 1), Duration::us(7)) << "each other pair is farther apart";
}

}  // namespace
}  // namespace softspine::analysis::storm
