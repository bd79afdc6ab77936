// SPDX-License-Identifier: Apache-2.0
// A switch that seems to be a root, and what its captures may have missed: then it cannot be known.
#include "analysis/storm/hidden_causes.hpp"

#include <gtest/gtest.h>

#include "tests/unit/storm/made_log.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using tests::ethernet;
using tests::MadeLog;
using tests::pfc_frame;
using tests::Recording;

// s4 between s3, s5 and h4, wholly captured: 10 ms. It stops s3 from 0 on, every 168 us again.
Recording ring_switch() {
  Recording it{
      .interfaces = {ethernet("s4:a", "link to s3:z, one of 3 ports"), ethernet("s4:b", "link to s5:z, one of 3 ports"),
                     ethernet("s4:h", "link to h4:eth0, one of 3 ports")},
      .recorder = PauseRecorder{}};
  for (int64_t at = 0; at < 10'000; at += 168) it.frame(0, Way::kOut, at, pfc_frame(1, 8, 0xffff));
  return it;
}

std::string doubt(Recording it) {
  const Analysis found = analyse(it.log());
  for (const Storm& storm : found.storms) {
    if (storm.from == 0) return storm.doubt;
  }
  return "no storm of s4";
}

TEST(HiddenCauses, AreNoneOfASwitchWhoseCapturesAreComplete) {
  EXPECT_EQ(doubt(ring_switch()), "");
}

// Of s5's XOFFs every other pair is lost: its pause lapses again and again, so it does not look like one that lasts.
TEST(HiddenCauses, APauseThatLapsesAndComesAgainMayHaveLasted) {
  Recording it = ring_switch();
  for (int64_t n = 0; n < 60; ++n) {
    if (n % 4 < 2) it.frame(1, Way::kIn, n * 168, pfc_frame(2, 8, 0xffff));
  }
  EXPECT_EQ(doubt(it), "a pause at s4:b lapsed that nobody ended, so frames may be missing from its capture");
}

// Its own frames get lost as those of others do.
TEST(HiddenCauses, ALapseOfItsOwnPausesSaysThatFramesAreMissing) {
  Recording it = ring_switch();
  it.frame(2, Way::kOut, 1'000, pfc_frame(3, 8, 0xffff));
  it.frame(2, Way::kOut, 2'000, pfc_frame(3, 8, 0));
  EXPECT_EQ(doubt(it), "a pause at s4:h lapsed that nobody ended, so frames may be missing from its capture");
}

TEST(HiddenCauses, PausesThatEndByXonAreNone) {
  Recording it = ring_switch();
  for (int64_t at = 0; at < 10'000; at += 200) {
    it.frame(1, Way::kIn, at, pfc_frame(2, 8, 0xffff));
    it.frame(1, Way::kIn, at + 190, pfc_frame(2, 8, 0));
  }
  EXPECT_EQ(doubt(it), "");
}

// Every port of a log made by hand was captured: the doubt about `node`, which has to be a root.
std::string doubt_about(MadeLog& it, const std::string& node) {
  for (LogPort& each : it.log.ports) each.is_captured = true;
  for (LogNode& each : it.log.nodes) each.known_ports = static_cast<uint32_t>(each.ports.size());
  for (const Storm& storm : it.analysis().storms) {
    if (it.log.nodes[storm.root].name == node) return storm.doubt;
  }
  return "no storm of " + node;
}

// s5 holds s4 for the first half of the time, s6 for most of the other: neither for all of it, but both together.
TEST(HiddenCauses, OfSeveralPortsAddUp) {
  for (const auto& [s6_until, is_doubtful] : {std::pair{12'000, false}, {19'000, true}}) {
    MadeLog it;
    for (const auto& [a, b] : {std::pair{"s4", "s3"}, {"s4", "s5"}, {"s4", "s6"}}) it.link(a, b);
    it.stop("s4", "s3", 0);
    it.pause("s5", "s4", 0, 10'000);
    it.pause("s6", "s4", 10'000, s6_until);
    EXPECT_EQ(doubt_about(it, "s4"),
              is_doubtful ? "s4:to-s5 was paused, too, and may have been for all of that time" : "");
  }
}

// sw9 is next to tor1, and nothing but its distance from the hosts says that it is above: it may be below as well.
TEST(HiddenCauses, ATierThatWasGuessedExcludesNone) {
  for (const auto& [name, is_doubtful] : {std::pair{"sw9", true}, {"spine9", false}}) {
    MadeLog it;
    for (const char* other : {"h2", name, "spine1"}) it.link("tor1", other);
    it.link("tor2", name);
    it.stop(name, "tor1", 0);
    it.stop("tor1", "spine1", 100);
    EXPECT_EQ(doubt_about(it, "tor1"),
              is_doubtful ? "tor1:to-sw9 was paused, too, and may have been for all of that time" : "");
  }
}

// The mirror of one port ends after 3 ms, or begins after 8: what pauses it later or earlier is not there.
TEST(HiddenCauses, APortWhoseFramesEndOrBeginMayHaveBeenPausedInItsSilence) {
  for (const int64_t at : {3'000, 8'500}) {
    Recording it = ring_switch();
    it.frame(1, Way::kOut, at, tests::CaptureBytes(60));
    EXPECT_NE(doubt(it).find("nothing was captured of s4:b for"), std::string::npos) << doubt(it);
    Recording whole = ring_switch();
    for (const int64_t other : {int64_t{100}, at, int64_t{9'900}})
      whole.frame(1, Way::kOut, other, tests::CaptureBytes(60));
    EXPECT_EQ(doubt(whole), "");
  }
}

// Nor is there one that the statistics count: as many frames as were received are there.
TEST(HiddenCauses, ASilenceIsOneIfTheCaptureSaysThatItHasAllFrames) {
  Recording it = ring_switch();
  it.frame(1, Way::kOut, 3'000, tests::CaptureBytes(60));
  it.interfaces[1].received = 1;
  EXPECT_EQ(doubt(it), "");
  it.interfaces[1].received = 2;
  EXPECT_NE(doubt(it).find("nothing was captured of s4:b"), std::string::npos);
}

TEST(HiddenCauses, ASilenceIsOneIfAFilterTookPauseFramesAlone) {
  Recording it = ring_switch();
  it.frame(1, Way::kIn, 3'000, pfc_frame(2, 8, 0xffff));
  it.frame(1, Way::kIn, 3'100, pfc_frame(2, 8, 0));
  EXPECT_NE(doubt(it), "");
  for (CapturedInterface& interface : it.interfaces) interface.filter = "ether proto 0x8808";
  EXPECT_EQ(doubt(it), "");
}

// A slice of 1.2 ms, in which s5's first XOFF comes after 0.3 ms: the one before it was sent before the slice begins.
TEST(HiddenCauses, APauseThatTheSliceCutsMayHaveBegunBefore) {
  Recording it{.interfaces = {ethernet("s4:a", "link to s3:z, one of 2 ports"),
                              ethernet("s4:b", "link to s5:z, one of 2 ports")},
               .recorder = PauseRecorder{}};
  for (int64_t at = 0; at < 1'200; at += 168) it.frame(0, Way::kOut, at, pfc_frame(1, 8, 0xffff));
  for (int64_t at = 300; at < 1'200; at += 300) it.frame(1, Way::kIn, at, pfc_frame(2, 8, 0xffff));
  EXPECT_EQ(doubt(it), "s4:b was paused, too, and may have been for all of that time");
}

TEST(HiddenCauses, AreNoneOfAHost) {
  Recording it{.interfaces = {ethernet("h1:eth0", "link to tor1:a, one of 2 ports"), ethernet("h1:eth1", "")},
               .recorder = PauseRecorder{}};
  for (int64_t at = 0; at < 10'000; at += 500) it.frame(0, Way::kOut, at, pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(doubt(it), "");
}

// Two ports that were paused at the same time hid no more of it than one.
TEST(HiddenCauses, OfSeveralPortsAtTheSameTimeCountOnce) {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s4", "s3"}, {"s4", "s5"}, {"s4", "s6"}}) it.link(a, b);
  it.stop("s4", "s3", 0);
  it.pause("s5", "s4", 0, 10'000);
  it.pause("s6", "s4", 0, 10'000);
  EXPECT_EQ(doubt_about(it, "s4"), "");
}

// s4's port to s5 was not captured, s5's was: for 2 of the 20 ms, or for all of them.
TEST(HiddenCauses, APortThatWasNotCapturedIsHeardAtTheOtherEnd) {
  for (const int64_t until : {2'000, 20'000}) {
    MadeLog it;
    for (const char* other : {"s3", "s5"}) it.link("s4", other);
    it.stop("s4", "s3", 0);
    const uint32_t here = it.log.nodes[0].ports[1];
    LogPort& there = it.log.ports[it.log.ports[here].peer];
    there.is_captured = true;
    there.time = {.from = MadeLog::us(0), .until = MadeLog::us(until)};
    Runs runs;
    runs.add(0, it.log.pauses[0], 3);
    const std::string doubt = doubt_by_hidden_causes(it.log, runs.all()[0], {}, dataplane::Duration::ms(2));
    EXPECT_EQ(doubt.find("nothing was captured of s4:to-s5"), until == 2'000 ? 0 : std::string::npos) << doubt;
  }
}

}  // namespace
}  // namespace softspine::analysis::storm
