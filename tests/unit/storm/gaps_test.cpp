// SPDX-License-Identifier: Apache-2.0
// What a capture leaves out, or has in the wrong order: the doubts that follow, and what is right all the same.
#include <gtest/gtest.h>

#include "analysis/storm/certainty.hpp"
#include "analysis/storm/storm_report.hpp"
#include "control/telemetry/json.hpp"
#include "tests/unit/storm/made_log.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rate;
using tests::CaptureBytes;
using tests::k100G;
using tests::pauses_of;
using tests::Recording;
using tests::Texts;

// spine1 is wholly captured, and pauses tor2 without end.
Recording whole_spine() {
  Recording it{
      .interfaces =
          {{.name = "spine1:a", .description = "link to tor1:z, one of 2 ports", .speed_bps = k100G, .link_type = 1},
           {.name = "spine1:b", .description = "link to tor2:z, one of 2 ports", .speed_bps = k100G, .link_type = 1}},
      .recorder = PauseRecorder{}};
  for (int64_t at = 0; at <= 9'900; at += 100) it.frame(1, Way::kOut, at, tests::pfc_frame(7, 8, 0xffff));
  return it;
}

std::string doubt(const PauseLog& log) {
  return doubt_about(log, log.node_of(log.pauses.at(0).from), log.pauses[0].from);
}

TEST(Gaps, AreNoneInAWholeCapture) {
  const PauseLog log = whole_spine().log();
  EXPECT_FALSE(log.gaps.any());
  EXPECT_EQ(doubt(log), "");
}

TEST(Gaps, FramesThatWereCutTooShortMayHavePausedTheSwitch) {
  Recording it = whole_spine();
  CaptureBytes cut = tests::pfc_frame(9, 8, 0xffff);
  cut.resize(20);
  it.frame(0, Way::kIn, 1, cut);
  EXPECT_NE(doubt(it.log()).find("too short"), std::string::npos);
}

// 12 bytes: not even whether it is a pause frame can be told.
TEST(Gaps, FramesThatWereCutBeforeTheirTypeMayHavePausedTheSwitch) {
  Recording it = whole_spine();
  const CaptureBytes bytes(12);
  it.recorder.take({.interface = 0, .way = Way::kIn, .at = Instant{}, .bytes = bytes, .original_bytes = 60},
                   it.interfaces);
  EXPECT_EQ(it.recorder.tally().cut_frames, 1u);
  EXPECT_NE(doubt(it.log()).find("too short"), std::string::npos);
}

TEST(Gaps, DropsThatOnlyTheStatisticsTellOfCount) {
  Recording it = whole_spine();
  it.interfaces[0].dropped = 100'000;
  const PauseLog log = it.log();
  EXPECT_EQ(log.gaps.missed, 100'000u);
  EXPECT_NE(doubt(log).find("frames are missing"), std::string::npos);
}

// The frames' own count and the statistics are two ways to tell of the same ones.
TEST(Gaps, DropsThatAreToldTwiceCountOnce) {
  Recording it = whole_spine();
  const CaptureBytes bytes = tests::pfc_frame(7, 8, 0xffff);
  it.recorder.take(
      {.interface = 1, .way = Way::kOut, .at = Instant::at_ps(9'950'000'000), .bytes = bytes, .missed_before = 4},
      it.interfaces);
  it.interfaces[1].dropped = 6;
  it.interfaces[0].dropped = 1;
  EXPECT_EQ(it.log().gaps.missed, 7u);
}

TEST(Gaps, AFilterMayHaveLeftPausesOutUnlessItTakesAllPauseFrames) {
  for (const auto& [filter, is_gap] : {std::pair{"ether src 02:00:00:00:0f:01", true},
                                       {"ether proto 0x8808", false},
                                       {"ether proto 0x8808 or udp port 4791", false},
                                       {"ether proto 0x8808 or udp and not ether src 02:00:00:00:00:01", true},
                                       {"ether proto 0x8808 or udp && port 4791", true},
                                       {"ether proto 0x8808 and not ether src 02:00:00:00:00:01", true},
                                       {"ether proto 0x88081", true},
                                       {"?", true}}) {
    Recording it = whole_spine();
    it.interfaces[0].filter = filter;
    const PauseLog log = it.log();
    EXPECT_EQ(log.gaps.is_filtered, is_gap) << filter;
    EXPECT_EQ(!doubt(log).empty(), is_gap) << filter;
  }
}

// A host is the root of what it sends, but its XONs may be what the filter left out.
TEST(Gaps, AFilterMayHaveLeftAHostsXonsOut) {
  Recording it{.interfaces = {{.name = "h1:eth0", .filter = "ether[18:2] > 0", .speed_bps = k100G, .link_type = 1}},
               .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_NE(doubt(it.log()).find("XONs"), std::string::npos);
}

TEST(Gaps, FramesWithoutATimeMayHavePausedTheSwitch) {
  Recording it = whole_spine();
  it.recorder.finish(it.interfaces, 1);
  const PauseLog log = assemble_log(it.recorder);
  EXPECT_NE(doubt(log).find("without a time"), std::string::npos);
}

TEST(Gaps, TimesThatRunBackwardsAreADoubt) {
  Recording it = whole_spine();
  it.frame(0, Way::kOut, 9'950, tests::pfc_frame(6, 8, 0));
  it.frame(0, Way::kOut, 9'940, tests::pfc_frame(6, 8, 0));
  const PauseLog log = it.log();
  EXPECT_EQ(log.gaps.disordered, 1u);
  EXPECT_NE(doubt(log).find("backwards"), std::string::npos);
}

TEST(Gaps, ATestbedThatContradictsTheCaptureIsADoubt) {
  const KnownFabric fits{.links = {{"spine1:a", "tor1:z"}, {"spine1:b", "tor2:z"}},
                         .tiers = {{"spine1", 2}},
                         .port_of_mac = {},
                         .port_of_interface = {}};
  EXPECT_EQ(doubt(whole_spine().log(fits)), "");
  KnownFabric crossed = fits;
  std::swap(crossed.links[0].second, crossed.links[1].second);
  EXPECT_NE(doubt(whole_spine().log(crossed)).find("spine1:a is linked to tor1:z or to tor2:z"), std::string::npos);
  KnownFabric larger = fits;
  larger.links.emplace_back("spine1:c", "tor3:z");
  EXPECT_NE(doubt(whole_spine().log(larger)), "") << "spine1 has another port there";
}

// Two ports that both say they lead to the third.
TEST(Gaps, DescriptionsThatContradictEachOtherAreADoubt) {
  Recording it = whole_spine();
  it.interfaces.push_back({.name = "tor3:z", .description = "link to spine1:a", .speed_bps = k100G, .link_type = 1});
  EXPECT_NE(doubt(it.log()).find("tor3:z is linked to spine1:a, and that to tor1:z"), std::string::npos);
}

TEST(PauseRecorder, BringsPauseFramesIntoTheOrderOfTheirTimes) {
  Recording in_order = whole_spine();
  Recording shuffled{.interfaces = in_order.interfaces, .recorder = PauseRecorder{}};
  for (int64_t at = 0; at <= 9'900; at += 100) {
    shuffled.frame(1, Way::kOut, at ^ 0x40, tests::pfc_frame(7, 8, 0xffff));
  }
  const PauseLog log = shuffled.log();
  ASSERT_EQ(log.pauses.size(), 1u);
  EXPECT_EQ(log.pauses[0].span.frames, 100u);
  EXPECT_GT(log.gaps.disordered, 0u);
}

// The third XOFF of 54 is stamped 9.975 ms. h1 storms from 1 ms on, and tor1 follows at 1.6 ms.
TEST(PauseRecorder, OneFrameWithAWrongTimeMovesNoOther) {
  Recording it{
      .interfaces =
          {{.name = "h1:eth0", .description = "link to tor1:a, one of 1 port", .speed_bps = k100G, .link_type = 1},
           {.name = "tor1:b", .description = "link to spine1:a, one of 2 ports", .speed_bps = k100G, .link_type = 1}},
      .recorder = PauseRecorder{}};
  for (int64_t n = 0; n < 54; ++n) {
    it.frame(0, Way::kOut, n == 2 ? 9'975 : 1'000 + n * 164, tests::pfc_frame(1, 8, 0xffff));
    it.frame(1, Way::kOut, 1'600 + n * 155, tests::pfc_frame(2, 8, 0xffff));
  }
  const PauseLog log = it.log();
  ASSERT_EQ(log.pauses.size(), 2u);
  EXPECT_EQ(log.pauses[0].span.begin, Instant::at_ps(1'000'000'000));
  EXPECT_EQ(log.gaps.disordered, 1u) << "not each frame behind it";
  const Analysis found = analyse(log);
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(log.nodes[found.storms[0].root].name, "h1");
}

// 18 ms of a host's storm, by a clock that is set in its middle.
Recording storm_with_a_step(int64_t by_us) {
  Recording it{.interfaces = {{.name = "h1:eth0",
                               .description = "link to tor1:a, one of 1 port",
                               .speed_bps = k100G,
                               .link_type = 1}},
               .recorder = PauseRecorder{}};
  for (int64_t at = 0; at < 18'000; at += 100) {
    it.frame(0, Way::kOut, at < 9'000 ? at : at + by_us, tests::pfc_frame(1, 8, 0xffff));
  }
  return it;
}

TEST(ClockSteps, AreNoPartOfTheCapture) {
  for (const int64_t seconds : {3'600, 2, -2, -3'600}) {
    Recording it = storm_with_a_step(seconds * 1'000'000);
    const PauseLog log = it.log();
    ASSERT_EQ(it.recorder.steps().size(), 1u) << seconds;
    EXPECT_EQ(it.recorder.steps()[0].by, Duration::s(seconds) + Duration::us(100)) << seconds;
    EXPECT_LE(log.length(), Duration::us(17'900)) << seconds;
    EXPECT_EQ(it.recorder.tally().omitted + it.recorder.tally().disordered, 0u) << seconds;
    const Analysis found = analyse(log);
    ASSERT_EQ(found.storms.size(), 1u) << seconds;
    EXPECT_EQ(found.storms[0].frames, 180u) << seconds;
  }
}

TEST(ClockSteps, BackAreADoubt) {
  Recording it = whole_spine();
  for (int64_t at = 0; at < 900; at += 100) {
    it.frame(1, Way::kOut, at - 5'000'000, tests::pfc_frame(7, 8, 0xffff));
  }
  EXPECT_NE(doubt(it.log()).find("clock was set"), std::string::npos);
}

TEST(ClockSteps, AFrameAloneWithAnotherTimeIsLeftOut) {
  for (const int64_t seconds : {3'600, -3'600}) {
    Recording it = whole_spine();
    it.frame(0, Way::kOut, seconds * 1'000'000, tests::pfc_frame(6, 8, 0));
    it.frame(0, Way::kOut, 10'000, CaptureBytes(60));
    const PauseLog log = it.log();
    EXPECT_EQ(log.end - log.begin, Duration::ms(10)) << seconds;
    EXPECT_EQ(log.gaps.timeless, 1u) << seconds;
    EXPECT_TRUE(log.silences.empty()) << seconds;
  }
}

// Behind the last frame comes none to compare it with. The one before it may be older than the first.
TEST(ClockSteps, TheLastFrameIsKeptHoweverFarItIs) {
  for (const int64_t before : {900LL, -57'600'000'000LL}) {
    for (const int64_t last : {60'000'000LL, -60'000'000LL}) {
      Recording it{.interfaces = {tests::ethernet("h1:eth0")}, .recorder = PauseRecorder{}};
      it.frame(0, Way::kOut, 0, CaptureBytes(60));
      it.frame(0, Way::kOut, before, CaptureBytes(60));
      it.frame(0, Way::kOut, before + 100, CaptureBytes(60));
      it.frame(0, Way::kOut, last, CaptureBytes(60));
      it.recorder.finish(it.interfaces);
      EXPECT_EQ(it.recorder.tally().frames, 4u) << before << ", " << last;
      EXPECT_EQ(it.recorder.tally().timeless, 0u) << before << ", " << last;
    }
  }
}

// A frame each 2 s, and once none for 20 s: nobody would call that a step.
TEST(ClockSteps, AreNoneWhereFramesAreRare) {
  Recording it = whole_spine();
  for (int64_t n = 1; n < 60; ++n) it.frame(1, Way::kOut, n * 2'000'000 + (n > 30 ? 20'000'000 : 0), CaptureBytes(60));
  const PauseLog log = it.log();
  EXPECT_TRUE(log.silences.empty());
  EXPECT_EQ(log.length(), Duration::s(138));
}

// Two clocks in one file, frame by frame: neither is left out.
TEST(ClockSteps, LeaveOutFewFrames) {
  Recording it = whole_spine();
  for (int64_t n = 0; n < 100; ++n) {
    it.frame(1, Way::kOut, n * 100 + (n % 2 == 0 ? 10'000 : 3'600'000'000), tests::pfc_frame(7, 8, 0xffff));
  }
  const PauseLog log = it.log();
  EXPECT_LE(log.gaps.timeless, ClockSteps::kMaxStrays);
  EXPECT_TRUE(log.gaps.any());
}

// kHeld frames are held back; what is older than the oldest of these is too late, and that is counted.
TEST(PauseRecorder, LeavesOutAndCountsWhatComesTooLate) {
  Recording it = whole_spine();
  constexpr auto kFrames = static_cast<int64_t>(PauseOrder::kHeld) + 2;
  for (int64_t n = 0; n < kFrames; ++n) it.frame(0, Way::kOut, 20'000 + n, tests::pfc_frame(6, 8, 0xffff));
  it.frame(0, Way::kOut, 20'002, tests::pfc_frame(6, 8, 0xffff));
  EXPECT_EQ(it.recorder.tally().omitted, 0u) << "as old as the oldest that is held";
  it.frame(0, Way::kOut, 20'000, tests::pfc_frame(6, 8, 0xffff));
  EXPECT_EQ(it.recorder.tally().omitted, 1u);
  EXPECT_NE(doubt(it.log()).find("left out"), std::string::npos);
}

TEST(PauseRecorder, KnowsNoLinkAboveTenTerabitsASecond) {
  for (const auto& [bps, speed] : {std::pair{uint64_t{10'000'000'000'000}, uint64_t{10'000'000'000'000}},
                                   {10'000'000'000'001, 0},
                                   {uint64_t{1} << 63, 0},
                                   {UINT64_MAX, 0}}) {
    Recording it{.interfaces = {{.name = "h1:eth0", .speed_bps = bps, .link_type = 1}}, .recorder = PauseRecorder{}};
    it.frame(0, Way::kOut, 1, tests::pfc_frame(1, 8, 0xffff));
    EXPECT_EQ(it.recorder.ports()[0].speed, Rate::bps(speed)) << bps;
  }
}

TEST(Verdict, IsUnknownIfPauseFramesAreThereAndNoneCouldBeRead) {
  Recording it{.interfaces = {{.name = "h1:eth0", .speed_bps = k100G, .link_type = 1}}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kOut, 1, CaptureBytes(60));
  const PauseLog none = it.log();
  EXPECT_EQ(verdict_of(analyse(none)), Verdict::kNoPauses);
  CaptureBytes cut = tests::pfc_frame(9, 8, 0xffff);
  cut.resize(20);
  it.frame(0, Way::kOut, 2, cut);
  const PauseLog log = it.log();
  const Analysis found = analyse(log);
  EXPECT_EQ(verdict_of(found), Verdict::kUnknown);
  const std::string text = text_report({}, log, found, 9);
  EXPECT_NE(text.find("cannot be known"), std::string::npos);
  EXPECT_EQ(text.find("No storm"), std::string::npos) << text;
  EXPECT_EQ(json_report({}, log, found)["verdict"], "unknown");
  it.frame(0, Way::kOut, 3, tests::pfc_frame(9, 8, 0xffff));
  EXPECT_EQ(verdict_of(analyse(it.log())), Verdict::kCongestion) << "one was read";
}

TEST(Gaps, HidePausesOnlyWhereNoneWasRead) {
  tests::MadeLog it;
  it.link("h1", "tor1");
  it.log.gaps.cut = 1;
  EXPECT_TRUE(it.analysis().hides_pauses);
  it.stop("h1", "tor1", 1'000);
  EXPECT_FALSE(it.analysis().hides_pauses);
}

}  // namespace
}  // namespace softspine::analysis::storm
