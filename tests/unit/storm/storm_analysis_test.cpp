// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/storm_analysis.hpp"

#include <gtest/gtest.h>

#include "analysis/storm/storm_report.hpp"
#include "tests/unit/storm/made_log.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Rate;
using tests::MadeLog;

// h1, h2 – tor1 – spine1 – tor2 – h3, h4; spine2 beside spine1.
MadeLog two_racks() {
  MadeLog it;
  for (const auto& [host, tor] : {std::pair{"h1", "tor1"}, {"h2", "tor1"}, {"h3", "tor2"}, {"h4", "tor2"}})
    it.link(host, tor);
  for (const char* tor : {"tor1", "tor2"}) {
    for (const char* spine : {"spine1", "spine2"}) it.link(tor, spine);
  }
  return it;
}

std::vector<std::string> names(const PauseLog& log, const std::vector<uint32_t>& nodes) {
  std::vector<std::string> out;
  for (const uint32_t node : nodes) out.push_back(log.nodes[node].name);
  return out;
}

TEST(StormAnalysis, FollowsAChainBackToItsRoot) {
  MadeLog it = two_racks();
  it.stop("h1", "tor1", 1'000);
  it.stop("tor1", "spine1", 1'010);
  it.stop("spine1", "tor2", 1'030);
  it.stop("tor2", "h3", 1'060);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  const Storm& storm = found.storms[0];
  EXPECT_EQ(it.root(found), "h1");
  EXPECT_EQ(storm.begin, MadeLog::us(1'000));
  EXPECT_EQ(storm.how, PauseEnd::kOpen);
  EXPECT_EQ(names(it.log, storm.victims), (std::vector<std::string>{"h3", "spine1", "tor1", "tor2"}));
  std::vector<uint32_t> hops;
  for (const Share& share : storm.spread) hops.push_back(share.hops);
  EXPECT_EQ(hops, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(storm.explained, Duration::us(19'000 + 18'990 + 18'970 + 18'940)) << "all there is";
  EXPECT_EQ(storm.explained, found.paused);
}

TEST(StormAnalysis, CallsShortPausesWithXonCongestion) {
  MadeLog it = two_racks();
  it.flicker("h1", "tor1", 300, 100);
  it.flicker("tor1", "spine1", 150, 100);
  const Analysis found = it.analysis();
  EXPECT_TRUE(found.storms.empty());
  EXPECT_EQ(verdict_of(found), Verdict::kCongestion);
  EXPECT_EQ(it.log.nodes[found.origins.at(0).node].name, "h1");
}

TEST(StormAnalysis, TakesACongestedSwitchForAVictimFromWhenItIsStopped) {
  MadeLog it = two_racks();
  it.stop("tor1", "spine1", 900);  // an incast of its own, 100 us before the storm
  it.stop("h1", "tor1", 1'000);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(it.root(found), "h1");
  EXPECT_EQ(found.storms[0].explained, Duration::us(19'000 + 19'000));
  ASSERT_EQ(found.storms[0].spread.size(), 2u);
  for (const Share& share : found.storms[0].spread) {
    EXPECT_EQ(share.first, MadeLog::us(1'000)) << "nobody suffers from a storm before it begins";
  }
}

// tor1 stands still for 19 ms, T is 2 ms: free of a cause for 3 of them is less than a fifth, for 4 it is more.
TEST(StormAnalysis, ANodeIsARootIfItsPauseIsFreeOfACauseForMoreThanAFifth) {
  for (const auto& [cause_from, roots] : {std::pair{4'000, 1u}, std::pair{5'000, 2u}}) {
    MadeLog it = two_racks();
    it.stop("tor1", "spine1", 1'000);
    it.stop("h1", "tor1", cause_from);
    const Analysis found = it.analysis();
    EXPECT_EQ(found.storms.size(), roots) << "h1 from " << cause_from << " us on";
  }
}

// 19 ms: a twentieth is 950 us.
TEST(StormAnalysis, AVictimIsStoppedForATwentiethOfTheStorm) {
  for (const auto& [stopped_us, is_victim] : {std::pair{949, false}, std::pair{950, true}, std::pair{8'000, true}}) {
    MadeLog it = two_racks();
    it.stop("h1", "tor1", 1'000);
    it.pause("tor1", "spine1", 2'000, 2'000 + stopped_us);
    const Analysis found = it.analysis();
    ASSERT_EQ(found.storms.size(), 1u);
    EXPECT_EQ(names(it.log, found.storms[0].victims),
              is_victim ? (std::vector<std::string>{"spine1", "tor1"}) : std::vector<std::string>{"tor1"})
        << stopped_us << " us";
  }
}

// Both hosts stop tor1; what tor1 does follows from the one that was there first, whoever is listed first.
TEST(StormAnalysis, WhatTwoRootsExplainGoesToTheOlder) {
  for (const bool h1_is_older : {true, false}) {
    MadeLog it = two_racks();
    it.stop("h1", "tor1", h1_is_older ? 1'000 : 1'500);
    it.stop("h2", "tor1", h1_is_older ? 1'500 : 1'000);
    it.stop("tor1", "spine1", 2'000);
    const Analysis found = it.analysis();
    ASSERT_EQ(found.storms.size(), 2u);
    EXPECT_EQ(it.root(found), h1_is_older ? "h1" : "h2");
    EXPECT_EQ(found.storms[0].explained, Duration::us(19'000 + 18'000));
    EXPECT_EQ(found.storms[1].explained, Duration::us(18'500));
  }
}

// At one instant, the one that the log has first.
TEST(StormAnalysis, WhatTwoRootsOfOneInstantExplainGoesToTheFirstInTheLog) {
  for (const auto& [first, second] : {std::pair{"h1", "h2"}, std::pair{"h2", "h1"}}) {
    MadeLog it = two_racks();
    it.stop(first, "tor1", 1'000);
    it.stop(second, "tor1", 1'000);
    it.stop("tor1", "spine1", 2'000);
    const Analysis found = it.analysis();
    ASSERT_EQ(found.storms.size(), 2u);
    EXPECT_EQ(it.root(found), first);
  }
}

TEST(StormAnalysis, ExcusesNoSwitchByPausesThatComeAndGo) {
  MadeLog it = two_racks();
  it.stop("tor1", "spine1", 1'000);
  it.flicker("h1", "tor1", 300, 10);
  it.flicker("h2", "tor1", 300, 10);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(it.root(found), "tor1");
}

TEST(StormAnalysis, DoesNotTakeAHostForOneThatForwards) {
  MadeLog it = two_racks();
  it.link("h1", "tor2");  // a bond
  it.stop("tor2", "h1", 900);
  it.stop("h1", "tor1", 1'000);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 2u);
}

TEST(StormAnalysis, DoesNotBlameAPortForThePauseThatItIsUnder) {
  MadeLog it = two_racks();
  it.stop("spine1", "tor1", 1'000);
  it.stop("tor1", "spine1", 1'001);
  const Analysis found = it.analysis();
  EXPECT_EQ(found.storms.size(), 2u) << "no traffic turns back into the port it came from";
}

TEST(StormAnalysis, ExcludesTrafficThatComesDownAndGoesUpAgain) {
  MadeLog it = two_racks();
  it.stop("spine1", "tor1", 1'000);
  it.stop("tor1", "spine2", 1'010);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 2u) << "tor1 forwards nothing from spine2 to spine1";
}

TEST(StormAnalysis, BridgesTheGapsOfARootThatRefreshesLate) {
  MadeLog it = two_racks();
  for (int64_t at = 0; at + 375 < 20'000; at += 375) it.pause("h1", "tor1", at, at + 335, PauseEnd::kLapsed);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_NEAR(found.storms[0].paused_percent, 100 * 335.0 / 375, 0.5);
}

// A generator of PFC frames that sends one a millisecond, or one in 8: 335 us of pause in each.
TEST(StormAnalysis, XoffsThatLapseAgainAndAgainAreAStormIfTheyPauseATwentiethOfTheTime) {
  for (const auto& [period, how, storms] :
       {std::tuple{1'000, PauseEnd::kLapsed, 1u}, {1'000, PauseEnd::kXon, 0u}, {8'000, PauseEnd::kLapsed, 0u}}) {
    MadeLog it = two_racks();
    it.log.end = MadeLog::us(80'000);
    for (int64_t at = 0; at + period < 80'000; at += period) it.pause("h1", "tor1", at, at + 335, how);
    EXPECT_EQ(it.analysis().storms.size(), storms) << "one in " << period << " us";
  }
}

TEST(StormAnalysis, FourXoffsThatLapseAreNoStorm) {
  MadeLog it = two_racks();
  for (int64_t at = 0; at < 4'000; at += 1'000) it.pause("h1", "tor1", at, at + 335, PauseEnd::kLapsed);
  EXPECT_TRUE(it.analysis().storms.empty());
  it.pause("h1", "tor1", 4'000, 4'335, PauseEnd::kLapsed);
  EXPECT_EQ(it.analysis().storms.size(), 1u);
}

// tor1 hands on what spine1's pauses do to it, for less than half of the time: that explains no pause without end.
TEST(StormAnalysis, PausesThatLapseInBetweenExplainNoneThatDoesNot) {
  MadeLog it = two_racks();
  for (int64_t at = 0; at + 1'000 < 20'000; at += 1'000) it.pause("spine1", "tor1", at, at + 335, PauseEnd::kLapsed);
  it.stop("tor1", "h1", 1'000);
  const Analysis found = it.analysis();
  EXPECT_EQ(found.storms.size(), 2u);
}

TEST(StormAnalysis, PausesThatLapseAgainAndAgainLockNobody) {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) it.link(a, b);
  for (int64_t at = 0; at + 1'000 < 20'000; at += 1'000) {
    for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}})
      it.pause(a, b, at, at + 335, PauseEnd::kLapsed);
  }
  EXPECT_TRUE(it.analysis().deadlocks.empty());
}

TEST(StormAnalysis, CountsFromTheBeginOfTheStormNotOfAPauseBeforeIt) {
  MadeLog it = two_racks();
  it.pause("h1", "tor1", 100, 300);
  it.pause("tor1", "h2", 120, 320);
  it.stop("h1", "tor1", 5'000);
  it.stop("tor1", "h2", 5'100);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(found.storms[0].begin, MadeLog::us(5'000));
  for (const Share& share : found.storms[0].spread) EXPECT_GE(share.first, found.storms[0].begin);
}

TEST(StormAnalysis, FindsACycleThatNothingFeeds) {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) it.link(a, b);
  for (const auto& [host, at] : {std::pair{"h1", "s1"}, {"h2", "s2"}, {"h3", "s3"}}) it.link(host, at);
  it.stop("s1", "s2", 1'000);
  it.stop("s2", "s3", 1'010);
  it.stop("s3", "s1", 1'020);
  it.stop("s1", "h1", 1'050);
  const Analysis found = it.analysis();
  EXPECT_TRUE(found.storms.empty());
  ASSERT_EQ(found.deadlocks.size(), 1u);
  EXPECT_EQ(cycle_text(it.log, found.deadlocks[0]), "s1 → s2 → s3 → s1");
  EXPECT_EQ(found.deadlocks[0].begin, MadeLog::us(1'020));
  EXPECT_EQ(found.deadlocks[0].time, Duration::us(18'980));
  EXPECT_FALSE(found.deadlocks[0].turns_up);
}

TEST(StormAnalysis, TwoSwitchesThatStopEachOtherOverTwoLinksAreADeadlock) {
  MadeLog it;
  it.link("s1", "s2");
  it.link("h1", "s1");
  it.link("h2", "s2");
  const uint32_t second = it.log.add_port("s2:to-s1-again", 1, Rate::gbps(100));
  it.log.join(second, it.log.add_port("s1:to-s2-again", 0, Rate::gbps(100)));
  it.stop("s1", "s2", 1'000);
  it.stop("s2", "s1-again", 1'010);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.deadlocks.size(), 1u);
  EXPECT_EQ(cycle_text(it.log, found.deadlocks[0]), "s1 → s2 → s1");
  EXPECT_EQ(found.deadlocks[0].time, Duration::us(18'990));
}

TEST(StormAnalysis, FindsACycleOverRoutesThatTurnUpAgain) {
  MadeLog it = two_racks();
  it.stop("spine1", "tor1", 1'000);
  it.stop("tor1", "spine2", 1'010);
  it.stop("spine2", "tor2", 1'020);
  it.stop("tor2", "spine1", 1'030);
  const Analysis found = it.analysis();
  EXPECT_TRUE(found.storms.empty());
  ASSERT_EQ(found.deadlocks.size(), 1u);
  EXPECT_TRUE(found.deadlocks[0].turns_up);
  EXPECT_EQ(found.deadlocks[0].ports.size(), 4u);
}

TEST(StormAnalysis, NamesTheRootThatFeedsACycle) {
  MadeLog it;
  for (const auto& [a, b] : {std::pair{"s1", "s2"}, {"s2", "s3"}, {"s3", "s1"}}) it.link(a, b);
  for (const auto& [host, at] : {std::pair{"h1", "s1"}, {"h2", "s2"}}) it.link(host, at);
  it.stop("h1", "s1", 1'000);
  it.stop("s1", "s2", 1'010);
  it.stop("s2", "s3", 1'020);
  it.stop("s3", "s1", 1'030);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(it.root(found), "h1");
  ASSERT_EQ(found.fed_cycles.size(), 1u);
  EXPECT_EQ(it.log.nodes[found.fed_cycles[0].fed_by].name, "h1");
  EXPECT_TRUE(found.deadlocks.empty());
}

// Priority 3 reaches spine1's pause over tor1, priority 4 straight from the root: the storm's spread has both as one.
TEST(StormAnalysis, OneEntryOfTheSpreadHasTheEarliestInstantAndTheFewestHopsOfItsPriorities) {
  for (const auto& [by_tor, direct] : {std::pair<uint8_t, uint8_t>{3, 4}, {4, 3}}) {
    for (const auto& [at_by_tor, at_direct] : {std::pair{2'000, 3'000}, std::pair{3'000, 2'000}}) {
      MadeLog it = two_racks();
      it.link("h1", "spine1");
      it.pause("h1", "tor1", 1'000, 20'000, PauseEnd::kOpen, by_tor);
      it.pause("tor1", "spine1", 1'500, 20'000, PauseEnd::kOpen, by_tor);
      it.pause("spine1", "tor2", at_by_tor, 20'000, PauseEnd::kOpen, by_tor);
      it.pause("h1", "spine1", 1'000, 20'000, PauseEnd::kOpen, direct);
      it.pause("spine1", "tor2", at_direct, 20'000, PauseEnd::kOpen, direct);
      const Analysis found = it.analysis();
      ASSERT_EQ(found.storms.size(), 1u);
      const auto& spread = found.storms[0].spread;
      const auto last =
          std::ranges::find(spread, "spine1:to-tor2", [&](const Share& s) { return it.log.name(s.from); });
      ASSERT_NE(last, spread.end());
      EXPECT_EQ(last->first, MadeLog::us(2'000));
      EXPECT_EQ(last->hops, 1u);
      EXPECT_EQ(last->time, Duration::us(18'000 + 17'000));
    }
  }
}

TEST(StormAnalysis, ALinkIsStillPausedIfTheCaptureEndsInOneOfItsPauses) {
  MadeLog it = two_racks();
  it.pause("h1", "tor1", 1'000, 1'100);
  it.pause("h2", "tor1", 2'000, 2'100);
  it.stop("h2", "tor1", 19'000);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.links.size(), 2u);
  EXPECT_EQ(it.log.name(found.links[0].from), "h2:to-tor1");
  EXPECT_TRUE(found.links[0].is_open);
  EXPECT_FALSE(found.links[1].is_open);
}

// 100G: a tenth of the capture, 2 ms. 25G: three times 0xFFFF quanta of 512 bits at 40 ps a bit.
TEST(StormAnalysis, SaysWhatAPauseHasToLastOnTheFastestAndOnTheSlowestLink) {
  for (const auto& [slow, other] : {std::pair{"h1", "h2"}, std::pair{"h2", "h1"}}) {
    MadeLog it = two_racks();
    it.rate_of(slow, "tor1") = Rate::gbps(25);
    it.pause(slow, "tor1", 1'000, 1'100);
    it.pause(other, "tor1", 1'000, 1'050);
    it.pause("h3", "tor2", 1'000, 1'200);
    const Analysis found = it.analysis();
    EXPECT_EQ(found.threshold_min, Duration::ms(2));
    EXPECT_EQ(found.threshold_max, Duration::ps(int64_t{3} * 0xffff * 512 * 40));
  }
}

TEST(StormAnalysis, CountsPauseInEveryPriority) {
  MadeLog it = two_racks();
  it.pause("h1", "tor1", 1'000, 20'000, PauseEnd::kOpen, kAllPriorities);
  it.pause("tor1", "spine1", 1'010, 20'000, PauseEnd::kOpen, 3);
  it.pause("tor1", "spine1", 1'020, 20'000, PauseEnd::kOpen, 4);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(it.root(found), "h1");
  EXPECT_EQ(found.storms[0].priorities, 1 << kAllPriorities);
  EXPECT_EQ(found.storms[0].frames, 1u) << "not once for each priority";
  EXPECT_EQ(found.storms[0].explained, Duration::us(19'000 + 18'990 + 18'980));
  EXPECT_EQ(found.storms[0].explained, found.paused);
}

// spine1 stops tor1 at priority 4, so tor1 stops h1 at all of them: no root of its own, whatever priority 3 does.
TEST(StormAnalysis, TakesAPauseOfOnePriorityForTheCauseOfPause) {
  MadeLog it = two_racks();
  it.pause("spine1", "tor1", 1'000, 20'000, PauseEnd::kOpen, 4);
  it.pause("tor1", "h1", 1'050, 20'000, PauseEnd::kOpen, kAllPriorities);
  it.pause("h3", "tor2", 500, 560, PauseEnd::kXon, 3);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(it.root(found), "spine1");
  EXPECT_EQ(found.storms[0].spread.size(), 2u);
}

// h1's timer is refreshed for 10 ms; one PAUSE of 10 us on the same link ends by XON in the middle of it.
TEST(StormAnalysis, AShortPauseDoesNotEndALongOneOfTheSameLink) {
  MadeLog it = two_racks();
  it.pause("h1", "tor1", 1'000, 11'000, PauseEnd::kLapsed, 3);
  it.pause("h1", "tor1", 2'000, 2'010, PauseEnd::kXon, kAllPriorities);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(it.root(found), "h1");
  EXPECT_EQ(found.storms[0].end, MadeLog::us(11'000));
  EXPECT_EQ(found.storms[0].how, PauseEnd::kLapsed);
  EXPECT_EQ(found.storms[0].paused_percent, 100);
  EXPECT_EQ(found.storms[0].priorities, 1 << 3) << "10 us of 10 ms are not what the storm consists of";
  EXPECT_EQ(found.storms[0].frames, 2u);
}

TEST(StormAnalysis, CountsTheFramesOfPauseBesidePfcOnce) {
  MadeLog it = two_racks();
  it.pause("h1", "tor1", 1'000, 20'000, PauseEnd::kOpen, kAllPriorities);
  it.pause("h1", "tor1", 1'100, 20'000, PauseEnd::kOpen, 3);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(found.storms[0].frames, 2u);
  EXPECT_EQ(found.storms[0].priorities, 1 << kAllPriorities | 1 << 3);
}

// A run's time is the union of its spans: 1.2 of 3 ms are on, far from the 80 % of an uninterrupted pause.
TEST(StormAnalysis, AddsUpOverlappingPausesOnce) {
  MadeLog it = two_racks();
  for (const int64_t at : {1'000, 2'800}) {
    it.pause("h1", "tor1", at, at + 600, PauseEnd::kLapsed, 3);
    it.pause("h1", "tor1", at, at + 600, PauseEnd::kLapsed, kAllPriorities);
  }
  EXPECT_TRUE(it.analysis().storms.empty());
}

// One link and priority from two captures of the same frames, 1 us apart.
TEST(StormAnalysis, CountsTheTimeOfALinkOnce) {
  MadeLog it = two_racks();
  it.pause("h1", "tor1", 1'000, 11'000, PauseEnd::kLapsed);
  it.pause("h1", "tor1", 1'001, 11'001, PauseEnd::kLapsed);
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(found.links.at(0).total, Duration::us(10'001));
  EXPECT_EQ(found.storms[0].explained, Duration::us(10'001));
  EXPECT_EQ(found.paused, Duration::us(10'001));
}

// One port that asks two: h1 is known by its address on two links, say.
TEST(StormAnalysis, KeepsLinksOfOnePortApart) {
  MadeLog it = two_racks();
  it.stop("h1", "tor1", 1'000);
  const Pause first = it.log.pauses.front();
  it.log.pauses.push_back({.from = first.from, .to = 2, .priority = 3, .span = first.span});
  ASSERT_NE(it.log.name(2), it.log.name(first.to));
  const Analysis found = it.analysis();
  ASSERT_EQ(found.storms.size(), 1u);
  ASSERT_EQ(found.storms[0].spread.size(), 2u);
  EXPECT_NE(found.storms[0].spread[0].to, found.storms[0].spread[1].to);
  EXPECT_EQ(found.storms[0].explained, Duration::us(38'000));
}

// 4,000 sources that all pause one port: the moments that can be afforded are fewer, and are bounded by kMaxWork.
TEST(Attribution, LooksAtFewerMomentsWhereMorePausesAreOn) {
  PauseLog log;
  const uint32_t stopped = log.add_port("tor1:a", log.add_node("tor1"), Rate::gbps(100));
  std::vector<uint32_t> selected;
  constexpr uint32_t kSources = 4'000;
  for (uint32_t i = 0; i < kSources; ++i) {
    const std::string name = "x" + std::to_string(i);
    const uint32_t from = log.add_port(name, log.add_node(name), Rate::gbps(100));
    log.pauses.push_back({.from = from,
                          .to = stopped,
                          .priority = 3,
                          .span = {.begin = dataplane::Instant::at_ps(i), .end = MadeLog::us(10'000), .frames = 1}});
    selected.push_back(i);
  }
  const Attribution found = attribute(
      log, selected,
      {.lasts = std::vector<bool>(selected.size(), true), .is_root = std::vector<bool>(selected.size(), false)});
  EXPECT_TRUE(found.is_sampled) << "4,001 moments of 4,000 pauses each are 16 million";
  EXPECT_EQ(found.shares.size(), kSources);
}

TEST(StormAnalysis, KeepsPrioritiesApart) {
  MadeLog it = two_racks();
  it.pause("h1", "tor1", 1'000, 20'000, PauseEnd::kOpen, 3);
  it.pause("tor1", "spine1", 1'010, 20'000, PauseEnd::kOpen, 4);
  EXPECT_EQ(it.analysis().storms.size(), 2u);
}

TEST(StormRule, WaitsATenthOfTheCaptureWithinItsLimits) {
  const StormRule rule;
  // 3 × 65535 × 512 bits.
  EXPECT_EQ(rule.threshold(Duration::us(100), Rate::gbps(100)), Duration::ps(1'006'617'600));
  EXPECT_EQ(rule.threshold(Duration::us(100), Rate::gbps(400)), Duration::ps(251'654'400));
  EXPECT_EQ(rule.threshold(Duration::ms(50), Rate::gbps(100)), Duration::ms(5));
  EXPECT_EQ(rule.threshold(Duration::s(60), Rate::gbps(100)), Duration::ms(200));
  EXPECT_EQ(rule.threshold(Duration::us(100), Rate{}), Duration::ms(1));
  EXPECT_EQ(StormRule{.storm_after = Duration::us(7)}.threshold(Duration::s(60), Rate::gbps(1)), Duration::us(7));
}

TEST(StormAnalysis, SaysWhenTheCaptureIsTooShortToTell) {
  MadeLog it = two_racks();
  it.log.end = MadeLog::us(500);
  it.pause("h1", "tor1", 100, 500, PauseEnd::kOpen);
  const Analysis found = it.analysis();
  EXPECT_TRUE(found.storms.empty());
  EXPECT_TRUE(found.is_too_short);
}

TEST(StormAnalysis, LooksAtMomentsWhereThereAreTooManyChanges) {
  MadeLog it = two_racks();
  it.stop("h1", "tor1", 1'000);
  it.stop("tor1", "spine1", 1'010);
  for (int64_t i = 0; i < 15'000; ++i) {
    it.log.pauses.push_back({.from = 2,
                             .to = 3,
                             .priority = 3,
                             .span = {.begin = dataplane::Instant::at_ps(i * 1'300'000),
                                      .end = dataplane::Instant::at_ps(i * 1'300'000 + 600'000),
                                      .frames = 1,
                                      .how = PauseEnd::kXon}});
  }
  const Analysis found = it.analysis();
  EXPECT_TRUE(found.is_sampled);
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(it.root(found), "h1");
  EXPECT_NEAR(found.storms[0].explained.seconds(), 0.019 + 0.01899, 1e-5);
}

}  // namespace
}  // namespace softspine::analysis::storm
