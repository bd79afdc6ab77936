// SPDX-License-Identifier: Apache-2.0
// Captures that others made: without directions, without names, of all interfaces of a machine; and whether a root may
// be named from them.
#include <gtest/gtest.h>

#include "analysis/storm/certainty.hpp"
#include "analysis/storm/cooked.hpp"
#include "analysis/storm/picture.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/storm/made_log.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Instant;
using dataplane::Rate;
using tests::CaptureBytes;
using tests::ethernet;
using tests::kSourceBase;
using tests::MadeLog;
using tests::pauses_of;
using tests::Recording;
using tests::sll;
using tests::Texts;

CaptureBytes sll2(uint32_t interface, uint8_t packet_type, const CaptureBytes& ethernet) {
  CaptureBytes out{ethernet[12], ethernet[13], 0, 0, 0, 0, 0, static_cast<uint8_t>(interface), 0, 1, packet_type, 6};
  out.insert(out.end(), ethernet.begin() + 6, ethernet.begin() + 12);
  out.resize(20);
  out.insert(out.end(), ethernet.begin() + 14, ethernet.end());
  return out;
}

TEST(CookedFrame, IsAFrameOfEthernetAgainWithItsWayAndInterface) {
  const CaptureBytes frame = tests::pfc_frame(9, 8, 0xffff);
  for (const uint8_t type : {uint8_t{2}, uint8_t{4}}) {
    for (const bool second : {true, false}) {
      const auto read = read_cooked(second ? 276 : 113, second ? sll2(7, type, frame) : sll(type, frame));
      ASSERT_TRUE(read);
      EXPECT_EQ(read->way, type == 4 ? Way::kOut : Way::kIn);
      EXPECT_EQ(read->interface, second ? 7u : 0u);
      PauseFrame pause;
      ASSERT_EQ(read_pause_frame(std::span{read->ethernet}.first(read->bytes), pause), MacControl::kPause);
      EXPECT_EQ(pause.source, kSourceBase + 9);
      EXPECT_EQ(pause.quanta[3], 0xffff);
    }
  }
}

TEST(CookedFrame, IsNoneIfItIsShortOrNotOfEthernet) {
  CaptureBytes frame = sll2(7, 2, tests::pfc_frame(9, 8, 0xffff));
  EXPECT_FALSE(read_cooked(276, std::span{frame}.first(19)));
  EXPECT_FALSE(read_cooked(113, std::span{frame}.first(15)));
  frame[11] = 8;  // an address of eight bytes
  EXPECT_FALSE(read_cooked(276, frame));
  frame[11] = 6;
  EXPECT_TRUE(read_cooked(276, frame));
  frame[9] = 24;  // Infiniband, say
  EXPECT_FALSE(read_cooked(276, frame));
}

// h1 – tor1:a, tor1:b – spine1:a
KnownFabric known_fabric() {
  return {.links = {{"h1:eth0", "tor1:a"}, {"tor1:b", "spine1:a"}},
          .tiers = {{"h1", 0}, {"tor1", 1}, {"spine1", 2}},
          .port_of_mac = {{kSourceBase + 1, "h1:eth0"}, {kSourceBase + 2, "tor1:b"}},
          .port_of_interface = {}};
}

TEST(ForeignCapture, OfAMirrorIsReadByTheTestbedsAddresses) {
  Recording it{.interfaces = {ethernet("")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kUnknown, 1, tests::pfc_frame(1, 8, 0xffff));
  it.frame(0, Way::kUnknown, 2, tests::pfc_frame(2, 8, 0xffff));
  it.frame(0, Way::kUnknown, 3, tests::pfc_frame(3, 8, 0xffff));
  const PauseLog log = it.log(known_fabric());
  EXPECT_EQ(pauses_of(log), (Texts{"h1:eth0 stops tor1:a", "tor1:b stops spine1:a",
                                   "02:00:00:00:00:03 stops peer of 02:00:00:00:00:03"}));
  EXPECT_EQ(doubt_about(log, log.node_of(log.pauses[0].from), log.pauses[0].from), "");
  EXPECT_NE(doubt_about(log, log.node_of(log.pauses[1].from), log.pauses[1].from), "") << "tor1:a was not captured";
  EXPECT_EQ(doubt_about(log, log.node_of(log.pauses[2].from), log.pauses[2].from),
            "the capture does not say what it is, nor what is behind it");
}

TEST(ForeignCapture, OfAllPortsOfASwitchMayMakeItTheRootByTheTestbed) {
  Recording it{.interfaces = {ethernet("tor1:a"), ethernet("tor1:b")}, .recorder = PauseRecorder{}};
  it.frame(1, Way::kOut, 1, tests::pfc_frame(2, 8, 0xffff));
  const PauseLog log = it.log(known_fabric());
  EXPECT_EQ(doubt_about(log, log.node_of(log.pauses[0].from), log.pauses[0].from), "");
}

TEST(ForeignCapture, OfSeveralPortsCountsAFrameOnceAndWhereItLeft) {
  Recording it{.interfaces = {ethernet("tor1:a"), ethernet("h1:eth0")}, .recorder = PauseRecorder{}};
  it.frame(1, Way::kUnknown, 1, tests::pfc_frame(1, 8, 0xffff));
  it.frame(0, Way::kUnknown, 2, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log(known_fabric())), Texts{"h1:eth0 stops tor1:a"});
}

TEST(ForeignCapture, ThatSawAFrameAtBothEndsOfALinkDoesNotTellWhichIsItsSenders) {
  Recording it{.interfaces = {ethernet("tor1:a"), ethernet("h1:eth0")}, .recorder = PauseRecorder{}};
  it.frame(1, Way::kUnknown, 1, tests::pfc_frame(1, 8, 0xffff));
  it.frame(0, Way::kUnknown, 2, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"02:00:00:00:00:01 stops peer of 02:00:00:00:00:01"});
}

TEST(ForeignCapture, ThatSawAFrameAtBothEndsKnowsItsSenderByTheInterfacesAddress) {
  Recording it{.interfaces = {ethernet("tor1:a"), ethernet("h1:eth0")}, .recorder = PauseRecorder{}};
  it.interfaces[1].mac = kSourceBase + 1;
  it.frame(0, Way::kUnknown, 1, tests::pfc_frame(1, 8, 0xffff));
  it.frame(0, Way::kUnknown, 2, tests::pfc_frame(1, 8, 0xffff));
  it.frame(1, Way::kUnknown, 3, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"h1:eth0 stops peer of h1:eth0"});
}

// The addresses of the fabric that was captured need not be the testbed's.
TEST(ForeignCapture, IsReadByPlacesAndWaysBeforeAddresses) {
  Recording it{.interfaces = {ethernet("tor1:b"), ethernet("tor1:a")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
  it.frame(1, Way::kIn, 2, tests::pfc_frame(2, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log(known_fabric())), (Texts{"tor1:b stops spine1:a", "h1:eth0 stops tor1:a"}));
}

TEST(ForeignCapture, OfAllInterfacesOfAMachineHasItsPorts) {
  Recording it{.interfaces = {{.name = "any", .link_type = 276}}, .recorder = PauseRecorder{Rate::gbps(100)}};
  it.frame(0, Way::kUnknown, 1, sll2(7, 2, tests::pfc_frame(1, 8, 0xffff)));
  it.frame(0, Way::kUnknown, 2, sll2(8, 4, tests::pfc_frame(2, 8, 0xffff)));
  const PauseLog log = it.log();
  EXPECT_EQ(pauses_of(log), (Texts{"02:00:00:00:00:01 stops here:if7", "here:if8 stops peer of here:if8"}));
  const PauseLog named =
      it.log({.links = {}, .tiers = {}, .port_of_mac = {}, .port_of_interface = {{"here:if7", "tor1:a"}}});
  EXPECT_EQ(pauses_of(named)[0], "02:00:00:00:00:01 stops tor1:a");
}

TEST(Certainty, ASwitchIsTheRootOnlyIfAllItsPortsWereCaptured) {
  const auto doubt = [](const Texts& captured) {
    Recording it{.interfaces = {}, .recorder = PauseRecorder{}};
    for (const std::string& port : captured)
      it.interfaces.push_back(ethernet(port, "link to x" + port + ", one of 2 ports"));
    it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
    const PauseLog log = it.log();
    return doubt_about(log, log.node_of(log.pauses[0].from), log.pauses[0].from);
  };
  EXPECT_EQ(doubt({"tor1:a", "tor1:b"}), "");
  EXPECT_EQ(doubt({"tor1:a"}), "1 of its 2 ports were captured, and any other may have been paused");
  EXPECT_EQ(doubt({"h1:eth0"}), "") << "a host by its name";
}

TEST(Certainty, ASwitchIsNotTheRootIfFramesAreMissing) {
  Recording it{.interfaces = {ethernet("tor1:a", "link to x:a, one of 1 port")}, .recorder = PauseRecorder{}};
  const CaptureBytes bytes = tests::pfc_frame(1, 8, 0xffff);
  it.recorder.take({.interface = 0, .way = Way::kOut, .at = Instant::at_ps(1), .bytes = bytes, .missed_before = 1},
                   it.interfaces);
  const PauseLog log = it.log();
  EXPECT_EQ(doubt_about(log, log.node_of(log.pauses[0].from), log.pauses[0].from),
            "frames are missing from the capture, and may have paused another of its ports");
}

// dumpcap on a machine with several ports: whether it forwards among them nobody knows.
TEST(Certainty, AnInterfaceOfAMachineIsNoHost) {
  Recording it{.interfaces = {ethernet("eth0"), ethernet("eth1")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
  const PauseLog log = it.log();
  EXPECT_NE(doubt_about(log, log.node_of(log.pauses[0].from), log.pauses[0].from), "");
}

TEST(Certainty, APortIsSeenFromTheOtherEndOfItsLink) {
  Recording it{.interfaces = {ethernet("tor1:a", "link to x:a, one of 2 ports"),
                              ethernet("x:b", "link to tor1:b, one of 9 ports")},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
  const PauseLog log = it.log();
  EXPECT_EQ(doubt_about(log, log.node_of(log.pauses[0].from), log.pauses[0].from), "");
}

// x has one port in the capture, so it may be a host, or a switch of which one port was captured.
TEST(Certainty, ANodeThatIsGuessedToBeAHostIsNotKnownToBeOne) {
  Recording it{.interfaces = {ethernet("x:a", "link to y:a"), ethernet("y:b", "link to z:a")},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
  const PauseLog log = it.log();
  const uint32_t x = log.node_of(log.pauses[0].from);
  EXPECT_EQ(log.nodes[x].tier, 0);
  EXPECT_NE(doubt_about(log, x, log.pauses[0].from), "");
}

TEST(Certainty, ANameThatWasMadeUpOfAHostsIsNoHosts) {
  Recording it{.interfaces = {ethernet("h1:eth0")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
  const PauseLog log = it.log();
  const LogNode& peer = log.nodes[log.node_of(log.pauses[0].to)];
  EXPECT_EQ(peer.name, "peer of h1:eth0");
  EXPECT_FALSE(peer.is_tier_known);
}

TEST(Certainty, ANameThatWasMadeUpIsNoHosts) {
  Recording it{.interfaces = {ethernet("tor1:a", "link to tor9:b")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kIn, 1, tests::pfc_frame(1, 8, 0xffff));
  const PauseLog described = it.log();
  EXPECT_EQ(pauses_of(described), Texts{"tor9:b stops tor1:a"});
  EXPECT_EQ(doubt_about(described, described.node_of(described.pauses[0].from), described.pauses[0].from),
            "the capture does not say how many ports it has, and any of them may have been paused");
}

// Words of vendors, and of what a switch is for.
TEST(Certainty, ASwitchWhoseNameHasAHostsWordIsNoHost) {
  for (const char* name : {"gpu-sw1", "sw-gpu1", "h3c-6850", "server-access2", "gpu-switch-7", "H3C-gpu1", "host-x2"}) {
    MadeLog it;
    it.link(name, "tor1");
    it.stop(name, "tor1", 1'000);
    const Analysis found = it.analysis();
    ASSERT_EQ(found.storms.size(), 1u) << name;
    EXPECT_NE(found.storms[0].doubt, "") << name;
  }
  for (const char* name : {"gpu7", "h3", "p1-h4", "s1-h2-nic3", "rack2-server5"}) {
    MadeLog it;
    it.link(name, "tor1");
    it.stop(name, "tor1", 1'000);
    EXPECT_EQ(it.analysis().storms.at(0).doubt, "") << name;
  }
}

TEST(Certainty, ARootThatIsKnownComesBeforeWhatMayHandOn) {
  MadeLog it;
  it.link("h1", "tor1");
  it.link("tor2", "spine1");
  it.stop("tor2", "spine1", 100);
  it.stop("h1", "tor1", 9'000);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 2u);
  EXPECT_EQ(it.root(found), "h1");
  EXPECT_EQ(found.storms[0].doubt, "");
  EXPECT_NE(found.storms[1].doubt, "");
  EXPECT_EQ(known_roots(found), 1u);
  const std::vector<Part> parts = parts_of(it.log, found);
  EXPECT_EQ(parts[found.storms[0].root], Part::kRoot);
  EXPECT_EQ(parts[found.storms[1].root], Part::kSuspect);
  EXPECT_NE(picture({}, it.log, found).find("ROOT?"), std::string::npos);
  EXPECT_EQ(headline(it.log, found), "PFC storm: its root is h1, which pauses tor1 without end");
  const control::Json told = json_report({}, it.log, found);
  EXPECT_EQ(told["storms"][0]["root"], "h1");
  EXPECT_EQ(told["storms"][1]["root"], nullptr);
  EXPECT_EQ(told["storms"][1]["seen_from"], "tor2");
  EXPECT_NE(text_report({}, it.log, found, 9).find("STORM: from tor2 or from behind it"), std::string::npos);
}

TEST(Picture, KeepsTheEndOfAnAddress) {
  EXPECT_EQ(shortened_name("02:00:5e:10:20:30", 9), "…10:20:30");
  EXPECT_EQ(shortened_name("p1-aggregation12", 9), "p1-aggre…");
}

}  // namespace
}  // namespace softspine::analysis::storm
