// SPDX-License-Identifier: Apache-2.0
// Whose pause a frame is where a capture, an address or a list of ports says only part of it.
#include "analysis/storm/sender_ends.hpp"

#include <gtest/gtest.h>

#include "analysis/storm/storm_analysis.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;
using tests::ethernet;
using tests::kSourceBase;
using tests::pauses_of;
using tests::pfc_frame;
using tests::Recording;
using tests::sll;
using tests::Texts;

KnownFabric listed(std::unordered_map<uint64_t, std::string> macs,
                   std::unordered_map<std::string, std::string> interfaces = {}) {
  return {.links = {}, .tiers = {}, .port_of_mac = std::move(macs), .port_of_interface = std::move(interfaces)};
}

Recording of_any() {
  return {.interfaces = {{.name = "any", .link_type = 113}}, .recorder = PauseRecorder{Rate::gbps(100)}};
}

TEST(SenderEnds, ASecondSourceAtAPortIsANodeOfItsOwn) {
  Recording it{.interfaces = {ethernet("tor1:a")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kIn, 1, pfc_frame(1, 8, 0xffff));
  it.frame(0, Way::kIn, 2, pfc_frame(2, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), (Texts{"02:00:00:00:00:01 stops tor1:a", "02:00:00:00:00:02 stops tor1:a"}));
}

TEST(SenderEnds, OfAllInterfacesInOnePlaceEachSourceIsANodeOfItsOwn) {
  Recording it = of_any();
  it.frame(0, Way::kUnknown, 0, sll(2, pfc_frame(0xaa, 8, 0x100)));
  it.frame(0, Way::kUnknown, 1, sll(2, pfc_frame(0xaa, 8, 0)));
  for (int64_t at = 100; at < 10'000; at += 100) it.frame(0, Way::kUnknown, at, sll(2, pfc_frame(0xbb, 8, 0xffff)));
  const PauseLog log = it.log();
  EXPECT_EQ(pauses_of(log), (Texts{"02:00:00:00:00:aa stops here:any", "02:00:00:00:00:bb stops here:any"}));
  EXPECT_EQ(log.ports.at(0).peer, kNone) << "which of them is the neighbour cannot be known";
  const Analysis found = analyse(log);
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(log.nodes[found.storms[0].root].name, "02:00:00:00:00:bb");
  EXPECT_EQ(found.storms[0].frames, 99u);
}

TEST(SenderEnds, OfAllInterfacesInOnePlaceTwoSendersPauseAtTheSameTime) {
  Recording it = of_any();
  for (int64_t at = 0; at < 10'000; at += 100) {
    it.frame(0, Way::kUnknown, at, sll(2, pfc_frame(0xaa, 8, 0xffff)));
    it.frame(0, Way::kUnknown, at, sll(2, pfc_frame(0xbb, 8, 0xffff)));
  }
  const Analysis found = analyse(it.log());
  ASSERT_EQ(found.storms.size(), 2u);
  for (const Storm& storm : found.storms) EXPECT_EQ(storm.explained, Duration::us(9'900)) << "as long as the capture";
}

TEST(SenderEnds, OfAllInterfacesInOnePlaceAListedAddressIsItsPort) {
  Recording it = of_any();
  it.frame(0, Way::kUnknown, 1, sll(2, pfc_frame(0xaa, 8, 0xffff)));
  it.frame(0, Way::kUnknown, 2, sll(2, pfc_frame(0xbb, 8, 0xffff)));
  it.frame(0, Way::kUnknown, 3, sll(4, pfc_frame(0xcc, 8, 0xffff)));
  it.frame(0, Way::kUnknown, 4, sll(4, pfc_frame(0xdd, 8, 0xffff)));
  EXPECT_EQ(pauses_of(it.log(listed({{kSourceBase + 0xbb, "gpu7:mlx5_0"}}))),
            (Texts{"02:00:00:00:00:aa stops here:any", "gpu7:mlx5_0 stops here:any",
                   "here:02:00:00:00:00:cc stops peer of here:02:00:00:00:00:cc",
                   "here:02:00:00:00:00:dd stops peer of here:02:00:00:00:00:dd"}));
}

// docs/captures.md: interfaces and an address in one list.
TEST(SenderEnds, AListedAddressThatComesInIsTheNeighbourOfThePort) {
  Recording it{.interfaces = {ethernet("eth3"), ethernet("eth4")}, .recorder = PauseRecorder{}};
  for (int64_t at = 0; at < 10'000; at += 100) {
    it.frame(0, Way::kIn, at, pfc_frame(0x55, 8, 0xffff));
    if (at > 1'000) it.frame(1, Way::kOut, at, pfc_frame(0xaa, 8, 0xffff));
  }
  const PauseLog log =
      it.log(listed({{kSourceBase + 0x55, "gpu7:mlx5_0"}}, {{"eth3", "sw1:Ethernet12"}, {"eth4", "sw1:Ethernet16"}}));
  EXPECT_EQ(pauses_of(log), (Texts{"gpu7:mlx5_0 stops sw1:Ethernet12", "sw1:Ethernet16 stops peer of sw1:Ethernet16"}));
  const Analysis found = analyse(log);
  ASSERT_EQ(found.storms.size(), 1u) << "sw1 only hands on";
  EXPECT_EQ(found.storms[0].explained, found.paused);
}

// The switch answers before the listed address is seen: that leaves its port free for the neighbour that is known.
TEST(SenderEnds, AKnownNeighbourComesBeforeOneThatIsMadeUp) {
  Recording it{.interfaces = {ethernet("eth3")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, pfc_frame(0xaa, 8, 0xffff));
  it.frame(0, Way::kIn, 2, pfc_frame(0x55, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log(listed({{kSourceBase + 0x55, "gpu7:mlx5_0"}}, {{"eth3", "sw1:Ethernet12"}}))),
            (Texts{"sw1:Ethernet12 stops gpu7:mlx5_0", "gpu7:mlx5_0 stops sw1:Ethernet12"}));
}

TEST(SenderEnds, OfTheTwoEndsOfALinkOneMayBeListed) {
  Recording it{.interfaces = {ethernet("eth0")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kUnknown, 1, pfc_frame(0x55, 8, 0xffff));
  it.frame(0, Way::kUnknown, 2, pfc_frame(0xaa, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log(listed({{kSourceBase + 0x55, "gpu7:mlx5_0"}}))),
            (Texts{"gpu7:mlx5_0 stops 02:00:00:00:00:aa", "02:00:00:00:00:aa stops gpu7:mlx5_0"}));
}

TEST(SenderEnds, OneListedSourceOfACaptureWithoutDirectionsPausesThePort) {
  Recording it{.interfaces = {ethernet("eth3")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kUnknown, 1, pfc_frame(0x55, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log(listed({{kSourceBase + 0x55, "gpu7:mlx5_0"}}, {{"eth3", "sw1:Ethernet12"}}))),
            Texts{"gpu7:mlx5_0 stops sw1:Ethernet12"});
}

// tcpdump -i any on a host with two NICs, at one switch that has one address for all its ports.
TEST(SenderEnds, OneAddressAtTwoPortsIsTwoPortsOfOneNode) {
  Recording it{.interfaces = {ethernet("here:if2"), ethernet("here:if3")}, .recorder = PauseRecorder{}};
  for (int64_t at = 0; at < 10'000; at += 100) {
    it.frame_ns(0, Way::kIn, at * 1'000 + 2, pfc_frame(0xaa, 8, 0xffff));
    it.frame_ns(1, Way::kIn, at * 1'000 + 3, pfc_frame(0xaa, 8, 0xffff));
  }
  const PauseLog log = it.log();
  EXPECT_EQ(pauses_of(log),
            (Texts{"02:00:00:00:00:aa stops here:if2", "02:00:00:00:00:aa at here:if3 stops here:if3"}));
  EXPECT_EQ(log.node_of(log.pauses[0].from), log.node_of(log.pauses[1].from));
  const Analysis found = analyse(log);
  ASSERT_EQ(found.links.size(), 2u);
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(found.storms[0].spread.size(), 2u) << "both links, none in place of the other";
  for (const Share& share : found.storms[0].spread) EXPECT_LE(share.time, Duration::us(9'901));
}

// Three taps that tell no directions: B sees half of what A sees, 1 ns later; C sees another priority.
TEST(SenderEnds, OnlyCopiesAreLeftOutAndTheyAreCounted) {
  Recording it{.interfaces = {ethernet("a"), ethernet("b"), ethernet("c")}, .recorder = PauseRecorder{}};
  for (int64_t n = 0; n < 100; ++n) {
    const int64_t ns = n * 100'000;
    it.frame_ns(0, Way::kUnknown, ns, pfc_frame(0xaa, 1 << 3, 0xffff));
    if (n % 2 == 0) it.frame_ns(1, Way::kUnknown, ns + 1, pfc_frame(0xaa, 1 << 3, 0xffff));
    if (n % 3 == 0) it.frame_ns(2, Way::kUnknown, ns + 2, pfc_frame(0xaa, 1 << 4, 0xffff));
  }
  const PauseLog log = it.log();
  EXPECT_EQ(log.copies, 50u);
  std::set<int> priorities;
  for (const Pause& pause : log.pauses) priorities.insert(pause.priority);
  EXPECT_EQ(priorities, (std::set<int>{3, 4}));
  EXPECT_EQ(log.pauses.size(), 2u);
}

// Frames of one address in two places, 50 us apart: light takes 10 km for that.
TEST(SenderEnds, FramesThatAreTooFarApartAreNoCopies) {
  for (const int64_t apart_us : {9, 50}) {
    Recording it{.interfaces = {ethernet("a"), ethernet("b")}, .recorder = PauseRecorder{}};
    for (int64_t at = 0; at < 10'000; at += 100) {
      it.frame(0, Way::kUnknown, at, pfc_frame(0xaa, 8, 0xffff));
      it.frame(1, Way::kUnknown, at + apart_us, pfc_frame(0xaa, 8, 0xffff));
    }
    const PauseLog log = it.log();
    EXPECT_EQ(log.copies, apart_us == 9 ? 100u : 0u);
    EXPECT_EQ(log.pauses.size(), apart_us == 9 ? 1u : 2u);
  }
}

// A frame that was captured where it left and where it came in; the other source of that link was captured there only.
TEST(SenderEnds, OfALinkThatWasCapturedAtBothEndsOnlyCopiesAreLeftOut) {
  Recording it{.interfaces = {ethernet("tor1:a"), ethernet("spine1:b")}, .recorder = PauseRecorder{}};
  it.interfaces[0].description = "link to spine1:b";
  it.frame(0, Way::kOut, 1, pfc_frame(7, 8, 0xffff));
  it.frame(1, Way::kIn, 2, pfc_frame(7, 8, 0xffff));
  it.frame(1, Way::kIn, 3, pfc_frame(8, 8, 0xffff));
  const PauseLog log = it.log();
  EXPECT_EQ(pauses_of(log), (Texts{"tor1:a stops spine1:b", "tor1:a stops spine1:b"}));
  EXPECT_EQ(log.copies, 1u);
}

// spine1's capture ends after 4 ms, tor3's goes on; both saw what spine1 sent until then.
TEST(SenderEnds, OfALinkThatWasCapturedAtBothEndsOneCountsWhileTheOtherIsNotOn) {
  Recording it{.interfaces = {ethernet("spine1:a"), ethernet("tor3:b")}, .recorder = PauseRecorder{}};
  it.interfaces[0].description = "link to tor3:b";
  it.interfaces[0].time = {.from = Instant{}, .until = Instant::at_ps(4'000'000'000)};
  it.interfaces[1].time = {.from = Instant{}, .until = Instant::at_ps(9'900'000'000)};
  for (int64_t at = 0; at <= 9'900; at += 100) {
    if (at <= 4'000) it.frame(0, Way::kOut, at, pfc_frame(7, 8, 0xffff));
    it.frame(1, Way::kIn, at, pfc_frame(7, 8, 0xffff));
  }
  const PauseLog log = it.log();
  EXPECT_EQ(pauses_of(log), (Texts{"spine1:a stops tor3:b", "spine1:a stops tor3:b"}));
  EXPECT_EQ(log.pauses[0].span.end, Instant::at_ps(4'000'000'000));
  EXPECT_EQ(log.pauses[1].span.begin, Instant::at_ps(4'000'000'000));
  EXPECT_NEAR(static_cast<double>(log.copies), 41, 1) << "a pause's frames are taken for evenly spaced";
  const Analysis found = analyse(log);
  ASSERT_EQ(found.links.size(), 1u);
  EXPECT_EQ(found.links[0].total, Duration::us(9'900));
  EXPECT_TRUE(found.links[0].is_open);
}

// Half of its frames are lost at the end where they left.
TEST(SenderEnds, OfALinkThatWasCapturedAtBothEndsTheOneWithMoreFramesCounts) {
  Recording it{.interfaces = {ethernet("spine1:a"), ethernet("tor3:b")}, .recorder = PauseRecorder{}};
  it.interfaces[0].description = "link to tor3:b";
  for (int64_t at = 0; at <= 9'900; at += 300) {
    if (at % 600 == 0) it.frame(0, Way::kOut, at, pfc_frame(7, 8, 0xffff));
    it.frame(1, Way::kIn, at + 1, pfc_frame(7, 8, 0xffff));
  }
  const PauseLog log = it.log();
  ASSERT_EQ(log.pauses.size(), 1u);
  EXPECT_EQ(log.pauses[0].span.frames, 34u);
  EXPECT_EQ(log.copies, 17u);
}

TEST(PauseLog, JoinsAPortOnce) {
  PauseLog log;
  for (const char* name : {"a:0", "b:0", "c:0"}) log.add_port(name, log.add_node(name));
  EXPECT_TRUE(log.join(0, 1));
  EXPECT_FALSE(log.join(1, 2));
  EXPECT_FALSE(log.join(2, 2));
  EXPECT_EQ(log.ports[1].peer, 0u);
  EXPECT_EQ(log.ports[2].peer, kNone);
}

// Two mirrors of one listed source: nobody knows where it is, but these are the same frames.
TEST(SenderEnds, CopiesOfAListedAddressAreLeftOutWhereTheirWayIsKnown) {
  Recording it{.interfaces = {ethernet("a"), ethernet("b")}, .recorder = PauseRecorder{}};
  for (int64_t at = 0; at < 10'000; at += 100) {
    it.frame(0, Way::kIn, at, pfc_frame(0x55, 8, 0xffff));
    it.frame(1, Way::kIn, at + 1, pfc_frame(0x55, 8, 0xffff));
  }
  const PauseLog log = it.log(listed({{kSourceBase + 0x55, "gpu7:mlx5_0"}}));
  EXPECT_EQ(pauses_of(log), Texts{"gpu7:mlx5_0 stops a"});
  EXPECT_EQ(log.copies, 100u);
}

// All interfaces of a machine in one place, and a testbed that says what that is linked to: it is linked to more.
TEST(SenderEnds, OfAllInterfacesInOnePlaceNoSourceIsTheKnownNeighbour) {
  Recording it = of_any();
  it.frame(0, Way::kUnknown, 1, sll(0, pfc_frame(0xaa, 8, 0xffff)));
  EXPECT_EQ(
      pauses_of(it.log({.links = {{"tor1:a", "here:any"}}, .tiers = {}, .port_of_mac = {}, .port_of_interface = {}})),
      Texts{"02:00:00:00:00:aa stops here:any"});
}

// Of a link that is known one end alone is in the capture, whichever of both it is.
TEST(SenderEnds, AKnownLinkLeadsToANodeThatIsNotInTheCapture) {
  for (const bool is_first : {true, false}) {
    Recording it{.interfaces = {ethernet("tor1:a")}, .recorder = PauseRecorder{}};
    it.frame(0, Way::kIn, 1, pfc_frame(1, 8, 0xffff));
    const auto link = is_first ? std::pair<std::string, std::string>{"tor1:a", "h1:eth0"}
                               : std::pair<std::string, std::string>{"h1:eth0", "tor1:a"};
    EXPECT_EQ(pauses_of(it.log({.links = {link}, .tiers = {}, .port_of_mac = {}, .port_of_interface = {}})),
              Texts{"h1:eth0 stops tor1:a"});
  }
}

// tor3's capture is on from the start, spine1's from 5 ms on. What had ended before stays as it was.
TEST(SenderEnds, APauseThatEndedBeforeTheOtherCaptureBeganStaysAsItIs) {
  Recording it{.interfaces = {ethernet("spine1:a"), ethernet("tor3:b")}, .recorder = PauseRecorder{}};
  it.interfaces[0].description = "link to tor3:b";
  it.interfaces[0].time = {.from = Instant::at_ps(5'000'000'000), .until = Instant::at_ps(9'900'000'000)};
  it.interfaces[1].time = {.from = Instant{}, .until = Instant::at_ps(9'900'000'000)};
  it.frame(1, Way::kIn, 0, pfc_frame(7, 8, 0xffff));
  it.frame(1, Way::kIn, 100, pfc_frame(7, 8, 0));
  for (int64_t at = 6'000; at <= 9'900; at += 100) {
    it.frame(0, Way::kOut, at, pfc_frame(7, 8, 0xffff));
    it.frame(1, Way::kIn, at, pfc_frame(7, 8, 0xffff));
  }
  const PauseLog log = it.log();
  ASSERT_EQ(log.pauses.size(), 2u);
  EXPECT_EQ(log.pauses[0].span.end, Instant::at_ps(100'000'000));
  EXPECT_EQ(log.pauses[0].span.how, PauseEnd::kXon);
}

TEST(SenderEnds, APortWhoseCaptureHearsNothingIsKnownToBeDeaf) {
  Recording it{.interfaces = {ethernet("tor1:a"), ethernet("tor1:b")}, .recorder = PauseRecorder{}};
  it.interfaces[1].hears = false;
  const PauseLog log = it.log();
  EXPECT_TRUE(log.ports.at(0).hears);
  EXPECT_FALSE(log.ports.at(1).hears);
}

TEST(PauseLog, ItsLengthHasNoSilences) {
  const auto at = [](int64_t us) { return Instant::at_ps(us * 1'000'000); };
  PauseLog log;
  log.begin = at(0);
  log.end = at(1'000);
  log.silences.push_back({.from = at(100), .until = at(200)});
  EXPECT_EQ(log.length(), Duration::us(900));
  EXPECT_EQ(log.length(at(150), at(400)), Duration::us(200)) << "half of it is in there";
  EXPECT_EQ(log.length(at(0), at(50)), Duration::us(50)) << "it comes later";
  EXPECT_EQ(log.length(at(300), at(400)), Duration::us(100)) << "it is over";
}

}  // namespace
}  // namespace softspine::analysis::storm
