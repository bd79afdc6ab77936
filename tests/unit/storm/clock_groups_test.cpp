// SPDX-License-Identifier: Apache-2.0
// Captures of several machines on one time line, against the clocks that their times were made with.
#include "analysis/storm/clock_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/storm/pair_limits.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/storm/made_clock.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rng;
using tests::kS;
using tests::kUs;
using Clock = tests::MadeClock;

SightingLog log_of(const std::vector<Sighting>& seen) {
  SightingLog out;
  for (const Sighting& it : seen) out.add(it);
  return out;
}

Sighting seen_at(const Clock& clock, uint64_t key, int hops_left, int64_t true_ps) {
  return {.mark = {.key = key, .hops_left = static_cast<uint8_t>(hops_left), .source = 1, .destination = 2},
          .way = Way::kOut,
          .at = clock.shown(true_ps)};
}

// a – b – c: packets cross all three, both ways. d is elsewhere.
TEST(CaptureGroups, ReachACaptureOverAnother) {
  const Clock clocks[] = {{}, {.skew_ps = kS, .drift = 50e-6}, {.skew_ps = -9 * kS, .drift = -50e-6}};
  std::vector<Sighting> seen[4];
  for (uint64_t i = 0; i < 2'000; ++i) {
    const auto at = static_cast<int64_t>(i) * 10 * kUs;
    const bool is_back = i % 2 == 1;
    // Only half of the packets reach a, and other ones c: a and c share none.
    for (int node = i % 4 < 2 ? 0 : 1; node < (i % 4 < 2 ? 2 : 3); ++node) {
      const int hop = is_back ? 2 - node : node;
      seen[node].push_back(seen_at(clocks[node], i, 64 - hop, at + hop * 3 * kUs));
    }
    seen[3].push_back(seen_at({}, 1'000'000 + i, 64, at));
  }
  std::vector<SightingLog> logs;
  for (const auto& of_one : seen) logs.push_back(log_of(of_one));
  std::vector<CaptureClock> captures;
  for (size_t i = 0; i < 4; ++i) captures.push_back({&logs[i], seen[i].front().at, seen[i].back().at});
  const CaptureGroups found = group_captures(captures);
  ASSERT_EQ(found.groups.size(), 2u);
  ASSERT_EQ(found.groups[0].captures.size(), 3u);
  EXPECT_EQ(found.why_apart[3], "it shares no packet with the others");
  for (const AlignedCapture& it : found.groups[0].captures) {
    for (const int64_t at : {int64_t{0}, 20'000 * kUs}) {
      const int64_t error = std::llabs((it.map(clocks[it.capture].shown(at)) - Instant::at_ps(at)).count_ps());
      EXPECT_LE(error, it.uncertainty.count_ps()) << "capture " << it.capture << " at " << at;
    }
  }
  EXPECT_EQ(found.groups[0].captures[2].by, 1u);
}

// A chain a – b – c – d of clocks that differ by 200 ppm each, as far as packets tell: they wait for less and less on
// the way there, for more and more on the way back. Together that would be 600 ppm, which no two crystals differ by.
TEST(CaptureGroups, HaveNoClockThatDriftsByMoreThanCrystalsDo) {
  SightingLog logs[4];
  constexpr int kPackets = 4'000;
  for (uint64_t i = 0; i < kPackets; ++i) {
    const auto at = static_cast<int64_t>(i) * kS / kPackets;
    const auto link = static_cast<size_t>(i % 3);
    const Clock faster{.drift = 199e-6 * static_cast<double>(link)};
    const Clock next{.drift = 199e-6 * static_cast<double>(link + 1)};
    const bool is_back = i / 3 % 2 == 1;
    logs[link].add(seen_at(faster, i, is_back ? 63 : 64, is_back ? at + 2 * kUs : at));
    logs[link + 1].add(seen_at(next, i, is_back ? 64 : 63, is_back ? at : at + 2 * kUs));
  }
  std::vector<CaptureClock> captures;
  for (const SightingLog& log : logs) captures.push_back({&log, Instant{}, Instant::at_ps(kS)});
  const CaptureGroups found = group_captures(captures);
  ASSERT_EQ(found.groups.size(), 1u);
  ASSERT_EQ(found.groups[0].captures.size(), 4u);
  for (const AlignedCapture& it : found.groups[0].captures) EXPECT_LE(std::abs(1 - it.map.rate), 200.001e-6);
}

// b is on for 1 ms, a and c for 10 s: what b says of a's clock is little 5 s later, and so is what it says of c's.
TEST(CaptureGroups, DoNotPromiseMoreOverACaptureThatIsShorter) {
  SightingLog logs[3];
  const Clock clocks[] = {{}, {.drift = 90e-6}, {.drift = -90e-6}};
  for (uint64_t i = 0; i < 400; ++i) {
    const auto at = static_cast<int64_t>(i) * 2'500'000;
    const size_t link = i % 2;
    const bool is_back = i / 2 % 2 == 1;
    logs[link].add(seen_at(clocks[link], i, is_back ? 63 : 64, is_back ? at + 2 * kUs : at));
    logs[link + 1].add(seen_at(clocks[link + 1], i, is_back ? 64 : 63, is_back ? at : at + 2 * kUs));
  }
  for (const auto& [c_lasts_us, groups] : {std::pair{1'000, 1u}, {10'000'000, 2u}}) {
    const std::vector<CaptureClock> captures{{&logs[1], Instant{}, Instant::at_ps(1'000 * kUs)},
                                             {&logs[0], Instant{}, Instant::at_ps(1'000 * kUs)},
                                             {&logs[2], Instant{}, Instant::at_ps(c_lasts_us * kUs)}};
    EXPECT_EQ(group_captures(captures).groups.size(), groups) << c_lasts_us;
  }
}

// Packets that wait for 30 us each way tell the difference to 30 us; those that wait for 10 us, to 10.
TEST(CaptureGroups, LeaveACaptureApartWhoseClockIsNotKnownTo25us) {
  for (const int64_t waits_us : {10, 30}) {
    SightingLog logs[2];
    for (uint64_t i = 0; i < 100; ++i) {
      const auto at = static_cast<int64_t>(i) * 100 * kUs;
      const bool is_back = i % 2 == 1;
      logs[0].add(seen_at({}, i, is_back ? 63 : 64, is_back ? at + waits_us * kUs : at));
      logs[1].add(seen_at({.skew_ps = kS}, i, is_back ? 64 : 63, is_back ? at : at + waits_us * kUs));
    }
    const std::vector<CaptureClock> captures{{&logs[0], Instant{}, Instant::at_ps(10'000 * kUs)},
                                             {&logs[1], Instant::at_ps(kS), Instant::at_ps(kS + 10'000 * kUs)}};
    const CaptureGroups found = group_captures(captures);
    ASSERT_EQ(found.groups.size(), waits_us == 10 ? 1u : 2u);
    if (waits_us == 30) {
      EXPECT_EQ(found.why_apart[1], "its clock can be compared with theirs to no less than 25 us");
    }
  }
}

// Packets between two captures, back and forth, 10 us apart: in the first 10 ms, and 10 s later for 10 ms again.
struct TwoStretches {
  SightingLog logs[2];
  void add(int64_t from_us) {
    for (int64_t i = 0; i < 1'000; ++i) {
      const auto key = static_cast<uint64_t>(from_us + i);
      const bool is_back = i % 2 == 1;
      const int64_t at = from_us * kUs + i * 10 * kUs;
      logs[0].add(seen_at({}, key, is_back ? 63 : 64, is_back ? at + 2 * kUs : at));
      logs[1].add(seen_at({.skew_ps = kS}, key, is_back ? 64 : 63, is_back ? at : at + 2 * kUs));
    }
  }
  // The second one's times are a second ahead; `silence` is a step of either.
  CaptureGroups groups(bool is_of_second, bool is_back) const {
    std::vector<CaptureClock> captures{{&logs[0], Instant{}, Instant::at_ps(11 * kS)},
                                       {&logs[1], Instant::at_ps(kS), Instant::at_ps(12 * kS)}};
    const int64_t skew = is_of_second ? kS : 0;
    captures[is_of_second ? 1 : 0].steps.push_back({.at = Instant::at_ps(skew + 10'000 * kUs),
                                                    .by = is_back ? Duration{} - Duration::s(10) : Duration::s(10),
                                                    .until = Instant::at_ps(skew + 10 * kS)});
    return group_captures(captures);
  }
};

TEST(CaptureGroups, TakeAStepForASilenceIfPacketsBeforeAndBehindItSaySo) {
  for (const bool is_of_second : {false, true}) {
    TwoStretches it;
    it.add(0);
    const CaptureGroups apart = it.groups(is_of_second, false);
    ASSERT_EQ(apart.groups.size(), 2u);
    EXPECT_NE(apart.why_apart[is_of_second ? 1 : 0].find("its clock was set meanwhile"), std::string::npos)
        << "nothing is known from behind it";
    it.add(10'000'000);
    EXPECT_EQ(it.groups(is_of_second, false).groups.size(), 1u);
    EXPECT_EQ(it.groups(is_of_second, true).groups.size(), 2u) << "no clock runs backwards";
  }
}

// The first one's clock was set: the time is that of the second, which the third can be compared with.
TEST(CaptureGroups, BeginWithClocksThatWereNotSet) {
  TwoStretches it;
  it.add(0);
  const std::vector<CaptureClock> captures{{&it.logs[0],
                                            Instant{},
                                            Instant::at_ps(10'000 * kUs),
                                            {{.at = Instant::at_ps(kUs), .by = Duration{} - Duration::s(5)}}},
                                           {&it.logs[0], Instant{}, Instant::at_ps(10'000 * kUs)},
                                           {&it.logs[1], Instant::at_ps(kS), Instant::at_ps(kS + 10'000 * kUs)}};
  const CaptureGroups found = group_captures(captures);
  ASSERT_EQ(found.groups.size(), 2u);
  ASSERT_EQ(found.groups[0].captures.size(), 2u);
  EXPECT_EQ(found.groups[0].captures[0].capture, 1u);
  EXPECT_EQ(found.groups[0].captures[1].capture, 2u);
  EXPECT_EQ(found.groups[1].captures.at(0).capture, 0u);
  EXPECT_NE(found.why_apart[0].find("its clock was set meanwhile"), std::string::npos);
}

// Both ends of a link, in captures that say no directions: frames both ways are needed. Where one says them, which end
// saw a frame first is still not known.
TEST(PairLimits, OfOneLinkWithoutDirectionsNeedFramesBothWays) {
  const auto limits = [](Way first, Way second, bool is_both_ways) {
    SightingLog logs[2];
    for (uint64_t i = 0; i < 10; ++i) {
      Sighting it = seen_at({}, i, 64, static_cast<int64_t>(i) * kUs);
      if (is_both_ways && i % 2 == 1) std::swap(it.mark.source, it.mark.destination);
      it.way = first;
      logs[0].add(it);
      it.way = second;
      logs[1].add(it);
    }
    return limits_of_pairs({&logs[0], &logs[1]}).at({0, 1}).packets;
  };
  EXPECT_EQ(limits(Way::kUnknown, Way::kUnknown, true), 10u);
  EXPECT_EQ(limits(Way::kUnknown, Way::kUnknown, false), 0u);
  EXPECT_EQ(limits(Way::kOut, Way::kUnknown, true), 0u);
  EXPECT_EQ(limits(Way::kUnknown, Way::kIn, true), 0u);
  EXPECT_EQ(limits(Way::kOut, Way::kIn, false), 10u);
}

TEST(SightingLog, KeepsTheSamePacketsInEachCaptureHoweverManyThereAre) {
  SightingLog few;
  SightingLog many;
  Rng rng{tests::seed(), 6};
  for (int64_t i = 0; i < 1'000'000; ++i) {
    const uint64_t key = rng.next();
    many.add(seen_at({}, key, 63, i));
    if (i % 100 == 0) few.add(seen_at({}, key, 64, i));
  }
  EXPECT_EQ(few.level(), 0u);
  const unsigned level = many.level();
  EXPECT_GE(level, 4u);
  const auto of_few = few.at_level(level);
  const auto of_many = many.at_level(level);
  EXPECT_GT(of_few.size(), 200u);
  for (const Sighting& it : of_few) {
    EXPECT_TRUE(std::ranges::binary_search(of_many, it.mark.key, {}, [](const Sighting& s) { return s.mark.key; }));
  }
}

TEST(SightingLog, LeavesOutAPacketThatWentByTwice) {
  SightingLog log;
  log.add(seen_at({}, 1, 64, 0));
  log.add(seen_at({}, 1, 63, 1));
  log.add(seen_at({}, 2, 64, 2));
  log.add(seen_at({}, 2, 64, 3));
  ASSERT_EQ(log.at_level(0).size(), 2u);
  EXPECT_EQ(log.at_level(0)[0].mark.hops_left, 64);
}

TEST(SightingLog, StaysSmallIfOnePacketComesAgainAndAgain) {
  SightingLog log;
  for (int64_t i = 0; i < 1'000'000; ++i) log.add(seen_at({}, uint64_t{1} << 50, 64, i));
  EXPECT_LE(log.size(), SightingLog::kMaxSightings);
}

}  // namespace
}  // namespace softspine::analysis::storm
