// SPDX-License-Identifier: Apache-2.0
// From frames to a log: whose port is whose neighbour, and who is named how when nobody says.
#include "analysis/storm/pause_log.hpp"

#include <gtest/gtest.h>

#include <map>

#include "analysis/storm/tiers.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Instant;
using dataplane::Rate;
using tests::CaptureBytes;
using tests::ethernet;
using tests::pauses_of;
using tests::Recording;
using tests::Texts;

CaptureBytes data_frame(uint8_t from, uint8_t to) {
  CaptureBytes out(60);
  out[0] = out[6] = 2;
  out[5] = to;
  out[11] = from;
  return out;
}

TEST(PauseLog, TakesNeighboursFromDescriptionsAlsoWhereOneEndIsNotCaptured) {
  Recording it{.interfaces = {ethernet("tor1:Ethernet0", "link to h1:eth0"),
                              ethernet("tor1:Ethernet4", "link to spine1:Ethernet0")},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kIn, 1, tests::pfc_frame(9, 8, 0xffff));
  it.frame(1, Way::kOut, 2, tests::pfc_frame(7, 8, 0xffff));
  const PauseLog log = it.log();
  EXPECT_EQ(pauses_of(log), (Texts{"h1:eth0 stops tor1:Ethernet0", "tor1:Ethernet4 stops spine1:Ethernet0"}));
  ASSERT_EQ(log.nodes.size(), 3u);
  EXPECT_EQ(log.nodes[0].tier, 1);
  EXPECT_EQ(log.nodes[2].name, "spine1");
  EXPECT_EQ(log.nodes[2].tier, 2) << "by its name: it has one port here";
}

TEST(PauseLog, TakesTheKnownFabricBeforeAnythingElse) {
  Recording it{.interfaces = {ethernet("a:0", "link to b:0"), ethernet("b:0"), ethernet("c:0")},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(9, 8, 0xffff));
  const PauseLog log = it.log({.links = {{"a:0", "c:0"}}, .tiers = {{"c", 2}}});
  EXPECT_EQ(pauses_of(log), Texts{"a:0 stops c:0"});
  EXPECT_EQ(log.nodes[2].tier, 2);
}

TEST(PauseLog, CountsAFrameThatWasSeenAtBothEndsOnce) {
  Recording it{.interfaces = {ethernet("tor1:a"), ethernet("spine1:b")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(7, 8, 0xffff));
  it.frame(1, Way::kIn, 2, tests::pfc_frame(7, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"tor1:a stops spine1:b"}) << "joined by the source that only one sent";
}

TEST(PauseLog, JoinsPortsThatSendToEachOthersNodes) {
  // h1 and h2 under one switch, which has one MAC for all ports; they also send to each other, bridged.
  Recording it{.interfaces = {ethernet("h1:eth0"), ethernet("h2:eth0"), ethernet("tor1:0"), ethernet("tor1:4")},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, data_frame(1, 9));
  it.frame(1, Way::kOut, 1, data_frame(2, 9));
  it.frame(2, Way::kOut, 2, data_frame(9, 1));
  it.frame(3, Way::kOut, 2, data_frame(9, 2));
  it.frame(0, Way::kOut, 3, data_frame(1, 2));
  it.frame(3, Way::kOut, 4, data_frame(1, 2));
  it.frame(1, Way::kOut, 5, data_frame(2, 1));
  it.frame(2, Way::kOut, 6, data_frame(2, 1));
  it.frame(1, Way::kOut, 7, tests::pfc_frame(2, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"h2:eth0 stops tor1:4"});
}

TEST(PauseLog, APortsFirstFrameNeedNotTellItsNeighbour) {
  Recording it{.interfaces = {ethernet("h1:eth0"), ethernet("tor1:0")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, data_frame(1, 77));  // to somebody who sends nothing here
  it.frame(1, Way::kOut, 1, data_frame(9, 78));
  it.frame(0, Way::kOut, 2, data_frame(1, 9));
  it.frame(1, Way::kOut, 2, data_frame(9, 1));
  it.frame(0, Way::kOut, 3, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"h1:eth0 stops tor1:0"});
}

// A third host's frame crosses tor1: where it came in is no port that sends to h1.
TEST(PauseLog, LearnsNothingOfAPortFromFramesThatComeIn) {
  Recording it{.interfaces = {ethernet("tor1:4"), ethernet("tor1:0"), ethernet("h1:eth0")},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kIn, 1, data_frame(5, 1));
  it.frame(1, Way::kOut, 1, data_frame(5, 1));
  it.frame(2, Way::kOut, 2, data_frame(1, 9));
  it.frame(1, Way::kOut, 2, data_frame(9, 1));
  it.frame(2, Way::kOut, 3, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"h1:eth0 stops tor1:0"});
}

// y1 and y2 are one hop from a host, z two; nobody's name says so.
TEST(Tiers, AreDistancesToTheNearestHostWhereNamesSayNothing) {
  PauseLog log;
  auto join = [&log, numbers = std::map<std::string, uint32_t>{}](const std::string& a, const std::string& b) mutable {
    for (const std::string& name : {a, b}) {
      if (!numbers.contains(name)) numbers[name] = log.add_node(name);
    }
    const uint32_t first = log.add_port(a + ":" + b, numbers[a], Rate::gbps(100));
    log.join(first, log.add_port(b + ":" + a, numbers[b], Rate::gbps(100)));
  };
  for (const auto& [a, b] : {std::pair{"x1", "y1"}, {"y1", "z"}, {"z", "y2"}, {"y2", "x2"}}) join(a, b);
  join("y2", "spine1");  // of one port, and no host: its name says so
  join("z", "spine2");
  guess_tiers(log);
  std::vector<int> tiers;
  for (const LogNode& node : log.nodes) tiers.push_back(node.tier);
  EXPECT_EQ(tiers, (std::vector<int>{0, 1, 2, 1, 0, 2, 2})) << "x1 y1 z y2 x2 spine1 spine2";
}

TEST(Tiers, AreUnknownWhereNoNodeHasMoreThanOnePort) {
  PauseLog log;
  const uint32_t first = log.add_port("a:0", log.add_node("a"), Rate::gbps(100));
  log.join(first, log.add_port("b:0", log.add_node("b"), Rate::gbps(100)));
  guess_tiers(log);
  EXPECT_EQ(log.nodes[0].tier, kNoTier);
  EXPECT_EQ(log.nodes[1].tier, kNoTier);
}

TEST(PauseLog, LeavesParallelLinksUnjoinedRatherThanGuess) {
  Recording it{.interfaces = {ethernet("tor1:0"), ethernet("tor1:4"), ethernet("spine1:0"), ethernet("spine1:4")},
               .recorder = PauseRecorder{}};
  for (const uint32_t interface : {0, 1}) it.frame(interface, Way::kOut, 1, data_frame(1, 2));
  for (const uint32_t interface : {2, 3}) it.frame(interface, Way::kOut, 1, data_frame(2, 1));
  it.frame(0, Way::kOut, 2, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"tor1:0 stops peer of tor1:0"});
}

TEST(PauseLog, NamesTheOtherEndOfAOnePortCaptureByItsMac) {
  Recording it{.interfaces = {ethernet("")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kUnknown, 1, tests::pfc_frame(0x11, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), Texts{"02:00:00:00:00:11 stops interface 0"});
}

TEST(PauseLog, KnowsAPortsOwnFramesByItsMac) {
  Recording it{.interfaces = {ethernet("eth0", "", 0x020000000011)}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kUnknown, 1, tests::pfc_frame(0x11, 8, 0xffff));
  it.frame(0, Way::kUnknown, 2, tests::pfc_frame(0x22, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()), (Texts{"eth0 stops peer of eth0", "peer of eth0 stops eth0"}));
}

TEST(PauseLog, TakesTwoSourcesForTheTwoEndsOfALink) {
  Recording it{.interfaces = {ethernet("mirror")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kUnknown, 1, tests::pfc_frame(0x11, 8, 0xffff));
  it.frame(0, Way::kUnknown, 2, tests::pfc_frame(0x22, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()),
            (Texts{"02:00:00:00:00:11 stops 02:00:00:00:00:22", "02:00:00:00:00:22 stops 02:00:00:00:00:11"}));
}

TEST(PauseLog, TakesMoreSourcesForAMirrorOfSeveralPorts) {
  Recording it{.interfaces = {ethernet("mirror")}, .recorder = PauseRecorder{}};
  for (uint8_t source = 1; source <= 3; ++source)
    it.frame(0, Way::kUnknown, source, tests::pfc_frame(source, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()).at(2), "02:00:00:00:00:03 stops peer of 02:00:00:00:00:03");
}

TEST(PauseRecorder, CountsWhatItCouldNotUse) {
  Recording it{.interfaces = {ethernet("eth0"), {.name = "lo", .link_type = 113}}, .recorder = PauseRecorder{}};
  CaptureBytes cut = tests::pfc_frame(1, 8, 1);
  cut.resize(20);
  CaptureBytes other = tests::pfc_frame(1, 8, 1);
  other[15] = 0x02;
  it.frame(0, Way::kIn, 5, cut);
  it.frame(0, Way::kIn, 4, other);
  it.frame(1, Way::kIn, 6, {});
  EXPECT_EQ(it.recorder.tally().frames, 3u);
  EXPECT_EQ(it.recorder.tally().cut_pause_frames, 1u);
  EXPECT_EQ(it.recorder.tally().other_mac_control, 1u);
  EXPECT_EQ(it.recorder.tally().other_links, 1u);
  EXPECT_EQ(it.recorder.tally().disordered, 1u);
}

TEST(PauseRecorder, KeepsPrioritiesOfOneFrameApart) {
  Recording it{.interfaces = {ethernet("a:0", "link to b:0")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 0, tests::pfc_frame(1, 0x18, 0xffff));
  it.frame(0, Way::kOut, 10, tests::pfc_frame(1, 0x08, 0));
  it.frame(0, Way::kOut, 20, tests::pfc_frame(1, 0x10, 0));
  const PauseLog log = it.log();
  ASSERT_EQ(log.pauses.size(), 2u);
  EXPECT_EQ(log.pauses[0].priority, 3);
  EXPECT_EQ(log.pauses[0].span.end, Instant::at_ps(10'000'000));
  EXPECT_EQ(log.pauses[1].priority, 4);
  EXPECT_EQ(log.pauses[1].span.end, Instant::at_ps(20'000'000));
}

// A capture's names go to terminals and pictures.
TEST(PauseRecorder, TakesNoControlCharactersIntoNamesAndNoNameWithoutEnd) {
  Recording it{.interfaces = {ethernet("a\x1b[31m\n:0", "link to b\x7f:0"), ethernet(std::string(1000, 'x'))},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
  it.frame(1, Way::kOut, 1, tests::pfc_frame(2, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log()),
            (Texts{"a?[31m?:0 stops b?:0", std::string(128, 'x') + " stops peer of " + std::string(128, 'x')}));
}

TEST(PauseRecorder, MakesOnePortOfOneNameInTwoSections) {
  Recording it{.interfaces = {ethernet("a:0", "link to b:0"), ethernet("a:0", "link to b:0")},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 0, tests::pfc_frame(1, 8, 0xffff));
  it.frame(1, Way::kOut, 10, tests::pfc_frame(1, 8, 0));
  const PauseLog log = it.log();
  ASSERT_EQ(log.pauses.size(), 1u);
  EXPECT_EQ(log.pauses[0].span.how, PauseEnd::kXon);
}

}  // namespace
}  // namespace softspine::analysis::storm
