// SPDX-License-Identifier: Apache-2.0
// More pauses than are kept one by one: what is put together, and that the analysis says the same of it.
#include "analysis/storm/pause_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/storm/pause_runs.hpp"
#include "analysis/storm/storm_analysis.hpp"
#include "tests/unit/storm/made_log.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using tests::k100G;
using tests::Recording;

constexpr auto kMany = static_cast<int64_t>(PauseList::kMaxWhole) * 4;

Recording two_links() {
  return {
      .interfaces =
          {{.name = "h1:eth0", .description = "link to tor1:a, one of 1 port", .speed_bps = k100G, .link_type = 1},
           {.name = "tor1:b", .description = "link to h2:eth0, one of 2 ports", .speed_bps = k100G, .link_type = 1}},
      .recorder = PauseRecorder{}};
}

// From `at` on: an XOFF and, `on` later, its XON.
void pause(Recording& it, uint32_t interface, int64_t at_us, int64_t on_us) {
  it.frame(interface, Way::kOut, at_us, tests::pfc_frame(static_cast<uint8_t>(interface + 1), 8, 0xffff));
  it.frame(interface, Way::kOut, at_us + on_us, tests::pfc_frame(static_cast<uint8_t>(interface + 1), 8, 0));
}

const LinkPauses& link_of(const PauseLog& log, const Analysis& found, const std::string& from) {
  return *std::ranges::find(found.links, from, [&](const LinkPauses& it) { return log.name(it.from); });
}

TEST(PauseList, KeepsEveryPauseWhileThereAreFew) {
  PauseList list;
  for (int64_t i = 0; i < 1'000; ++i) {
    const Instant at = Instant::at_ps(i * 1'000'000);
    EXPECT_TRUE(list.add({.priority = 3, .span = {.begin = at, .end = at + Duration::ns(500), .how = PauseEnd::kXon}},
                         Duration::ms(1)));
  }
  list.sort();
  ASSERT_EQ(list.all().size(), 1'000u);
  EXPECT_EQ(list.all()[999].span.pauses, 1u);
}

// Pauses of 30 and 50 us each 100 us; one of 90 us is the longest.
TEST(PauseList, OfManyKeepsNumberTotalAndTheLongest) {
  Recording it = two_links();
  for (int64_t i = 0; i < kMany; ++i) {
    pause(it, 0, i * 100, i == 33'333 ? 90 : 50);
    pause(it, 1, i * 100 + 1, 30);
  }
  const PauseLog log = it.log();
  EXPECT_LE(log.pauses.size(), PauseList::kMaxWhole);
  EXPECT_EQ(log.gaps.omitted, 0u);
  const Analysis found = analyse(log);
  EXPECT_TRUE(found.storms.empty()) << "each ends by an XON";
  const LinkPauses& host = link_of(log, found, "h1:eth0");
  EXPECT_EQ(host.pauses, static_cast<uint64_t>(kMany));
  EXPECT_EQ(host.xons, static_cast<uint64_t>(kMany));
  EXPECT_EQ(host.frames, static_cast<uint64_t>(kMany));
  EXPECT_EQ(host.total, Duration::us(50) * kMany + Duration::us(40));
  EXPECT_EQ(host.longest, Duration::us(90));
  EXPECT_EQ(log.pauses[found.longest].span.longest_from(), Instant::at_ps(33'333 * 100'000'000LL));
  EXPECT_EQ(link_of(log, found, "tor1:b").total, Duration::us(30) * kMany);
  EXPECT_TRUE(found.is_sampled);
  Duration explained;
  for (const Origin& origin : found.origins) explained += origin.explained;
  EXPECT_NEAR(static_cast<double>(explained.count_ps()), static_cast<double>(found.paused.count_ps()),
              static_cast<double>(found.paused.count_ps()) * 0.1)
      << "a sample: its moments are as far apart as the entries";
}

// On for 95 of 100 us for 40 s: dense, but each time the buffer drains.
TEST(PauseList, MakesNoStormOfDensePausesThatXonsEnd) {
  Recording it = two_links();
  for (int64_t i = 0; i < kMany; ++i) pause(it, 0, i * 100, 95);
  const PauseLog log = it.log();
  EXPECT_LE(log.pauses.size(), PauseList::kMaxWhole);
  EXPECT_TRUE(analyse(log).storms.empty());
}

TEST(PauseList, HidesNoStormAmongMillionsOfPauses) {
  Recording it = two_links();
  const int64_t end = kMany * 100;
  for (int64_t at = 0; at < end; at += 100) {
    if (at >= end / 2 && at < end / 2 + 500'000) it.frame(0, Way::kOut, at, tests::pfc_frame(1, 8, 0xffff));
    pause(it, 1, at, 50);
  }
  const PauseLog log = it.log();
  const Analysis found = analyse(log);
  ASSERT_EQ(found.storms.size(), 1u);
  EXPECT_EQ(log.nodes[found.storms[0].root].name, "h1");
  EXPECT_EQ(found.storms[0].begin, Instant::at_ps(end / 2 * 1'000'000));
  EXPECT_EQ(found.storms[0].frames, 5'000u);
}

// A lapsed pause that XONs follow is still one that lapsed, and one behind them is another run.
TEST(PauseList, EntriesOfXonsEndARunAndLeaveItLapsed) {
  const auto at = [](int64_t us) { return Instant::at_ps(us * 1'000'000); };
  const Pause lapsed{.span = {.begin = at(0), .end = at(300), .frames = 1, .how = PauseEnd::kLapsed}};
  Pause xons{.span = {.begin = at(400), .end = at(450), .frames = 1, .how = PauseEnd::kXon}};
  xons.span.take_in({.begin = at(500), .end = at(550), .frames = 1, .how = PauseEnd::kXon});
  Pause again = lapsed;
  again.span.begin = at(600);
  again.span.end = at(900);
  Runs runs;
  runs.add(0, lapsed, 3);
  runs.add(1, xons, 3);
  runs.add(2, again, 3);
  ASSERT_EQ(runs.all().size(), 2u);
  EXPECT_EQ(runs.all()[0].how, PauseEnd::kLapsed);
  EXPECT_EQ(runs.all()[0].count, 1u);
}

// A generator that is slower than its timers: 336 us of each 1 ms. With an XON every so often it is congestion.
TEST(PauseList, PausesThatLapseAgainAndAgainAreAStormHoweverManyThereAre) {
  for (const bool has_xons : {false, true}) {
    Recording it = two_links();
    for (int64_t i = 0; i < kMany; ++i) {
      it.frame(0, Way::kOut, i * 1'000, tests::pfc_frame(1, 8, 0xffff));
      if (has_xons && i % 3 == 0) it.frame(0, Way::kOut, i * 1'000 + 100, tests::pfc_frame(1, 8, 0));
    }
    const PauseLog log = it.log();
    EXPECT_EQ(log.gaps.omitted, 0u);
    const Analysis found = analyse(log);
    EXPECT_EQ(found.storms.empty(), has_xons);
    if (!has_xons) {
      EXPECT_LE(log.pauses.size(), PauseList::kMaxWhole);
      EXPECT_EQ(found.storms.at(0).frames, static_cast<uint64_t>(kMany));
    }
  }
}

// Every second one lapses: neither kind becomes the other, whatever is put together.
TEST(PauseList, PutsPausesTogetherThatEndedInTheSameWay) {
  PauseList list;
  const int64_t many = PauseList::kMaxWhole * 2;
  for (int64_t i = 0; i < many; ++i) {
    const Instant at = Instant::at_ps(i * 10'000'000);
    const PauseEnd how = i % 4 < 2 ? PauseEnd::kXon : PauseEnd::kLapsed;
    list.add({.priority = 3, .span = {.begin = at, .end = at + Duration::us(5), .how = how}}, Duration::ms(1));
  }
  EXPECT_LT(list.all().size(), static_cast<size_t>(many));
  int64_t xons = 0;
  for (const RecordedPause& it : list.all()) xons += it.span.how == PauseEnd::kXon ? it.span.pauses : 0;
  EXPECT_EQ(xons, many / 2);
}

TEST(PauseList, AnEntryOfSeveralPausesIsASample) {
  tests::MadeLog it;
  it.link("h1", "tor1");
  it.pause("h1", "tor1", 0, 100);
  EXPECT_FALSE(it.analysis().is_sampled);
  it.log.pauses[0].span.pauses = 2;
  EXPECT_TRUE(it.analysis().is_sampled);
}

}  // namespace
}  // namespace softspine::analysis::storm
