// SPDX-License-Identifier: Apache-2.0
// Clocks of two captures, from the packets that both saw: against the skew and drift that the times were made with.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tools/storm/clock_groups.hpp"

namespace softspine::tools::storm {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rng;

// Shows `skew` more than the true time, and gains `drift`.
struct Clock {
  int64_t skew_ps = 0;
  double drift = 0;
  Instant shown(int64_t true_ps) const {
    return Instant::at_ps(true_ps + skew_ps + std::llround(drift * static_cast<double>(true_ps)));
  }
};

constexpr int64_t kUs = 1'000'000;
constexpr int64_t kS = 1'000'000'000'000;

// Packets from a to b and back, each after waiting for at least 2 us.
ClockLimits exchanged(const Clock& a, const Clock& b, Rng& rng, int packets, int64_t span_ps) {
  ClockLimits out;
  for (int i = 0; i < packets; ++i) {
    const auto sent = static_cast<int64_t>(rng.below(static_cast<uint64_t>(span_ps)));
    const auto waits =
        static_cast<int64_t>(2 * kUs + static_cast<int64_t>(rng.below(1 << (10 + rng.below(20)))) * 1000);
    const bool is_to_b = rng.below(2) == 0;
    const Instant at_a = a.shown(is_to_b ? sent : sent + waits);
    const Instant at_b = b.shown(is_to_b ? sent + waits : sent);
    (is_to_b ? out.upper : out.lower).push_back({.at = at_b, .difference = at_b - at_a});
    ++out.packets;
  }
  return out;
}

TEST(ClockFit, FindsTheSkewAndDriftOfEachOf200PairsWithinItsUncertainty) {
  for (uint64_t number = 0; number < 200; ++number) {
    Rng rng{tests::seed() + number, 1};
    const Clock a{.skew_ps = static_cast<int64_t>(rng.below(3600)) * kS, .drift = 0};
    const Clock b{
        .skew_ps = static_cast<int64_t>(rng.below(3600)) * kS - 1800 * kS + static_cast<int64_t>(rng.below(kS)),
        .drift = (static_cast<double>(rng.below(300)) - 150) * 1e-6};
    const int64_t span = rng.below(2) == 0 ? 10'000 * kUs : 100 * kS;
    const auto fit = fit_clock(exchanged(a, b, rng, 2'000, span), b.shown(0), b.shown(span));
    ASSERT_TRUE(fit) << fit.error() << ", pair " << number;
    EXPECT_EQ(fit->contradicting, 0u);
    for (const int64_t at : {int64_t{0}, span / 3, span}) {
      const auto error = std::llabs((fit->other(b.shown(at)) - a.shown(at)).count_ps());
      EXPECT_LE(error, fit->uncertainty.count_ps()) << "pair " << number << " at " << at;
    }
    EXPECT_LT(fit->uncertainty, Duration::us(12)) << "pair " << number << ": it says little";
  }
}

// 10 ms, in which 200 ppm are 2 us, and packets wait for as long.
TEST(ClockFit, ClaimsNoDriftThatAShortTimeDoesNotShow) {
  double sum = 0;
  for (uint64_t number = 0; number < 100; ++number) {
    Rng rng{tests::seed() + number, 7};
    const Clock b{.skew_ps = kS, .drift = (static_cast<double>(rng.below(180)) - 90) * 1e-6};
    const auto fit = fit_clock(exchanged({}, b, rng, 300, 10'000 * kUs), b.shown(0), b.shown(10'000 * kUs));
    ASSERT_TRUE(fit) << fit.error();
    EXPECT_GT(fit->drift_uncertainty, 100e-6) << "pair " << number;
    EXPECT_LE(std::abs(fit->drift), 200e-6) << "pair " << number;
    EXPECT_LE(std::abs(fit->drift - b.drift), fit->drift_uncertainty) << "pair " << number;
    sum += std::abs(fit->drift);
  }
  EXPECT_LT(sum, 100 * 60e-6) << "on average; the drift at which the limits are farthest apart is often 200 ppm";
}

TEST(ClockFit, FindsTheDriftOfALongTime) {
  Rng rng{tests::seed(), 8};
  const Clock b{.skew_ps = kS, .drift = 70e-6};
  const auto fit = fit_clock(exchanged({}, b, rng, 2'000, 100 * kS), b.shown(0), b.shown(100 * kS));
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_NEAR(fit->drift, 70e-6, 1e-6);
  EXPECT_LT(fit->drift_uncertainty, 1e-6);
}

TEST(ClockFit, IsNotMovedByOnePacketInAHundredThatIsAnother) {
  Rng rng{tests::seed(), 2};
  const Clock b{.skew_ps = 7 * kS, .drift = 30e-6};
  ClockLimits limits = exchanged({}, b, rng, 2'000, kS);
  for (size_t i = 0; i < 10; ++i) {
    limits.upper[i * 50].difference -= Duration::s(3);
    limits.lower[i * 50].difference += Duration::s(3);
  }
  const auto fit = fit_clock(limits, b.shown(0), b.shown(kS));
  ASSERT_TRUE(fit) << fit.error();
  EXPECT_GE(fit->contradicting, 20u);
  EXPECT_LE(std::llabs((fit->other(b.shown(kS / 2)) - Instant::at_ps(kS / 2)).count_ps()), fit->uncertainty.count_ps());
}

TEST(ClockFit, SaysThatAClockWasSet) {
  Rng rng{tests::seed(), 3};
  ClockLimits limits = exchanged({}, {.skew_ps = kS}, rng, 500, kS);
  const ClockLimits after = exchanged({}, {.skew_ps = 3 * kS}, rng, 500, kS);
  limits.upper.insert(limits.upper.end(), after.upper.begin(), after.upper.end());
  limits.lower.insert(limits.lower.end(), after.lower.begin(), after.lower.end());
  const auto fit = fit_clock(limits, Instant::at_ps(0), Instant::at_ps(2 * kS));
  ASSERT_FALSE(fit);
  EXPECT_NE(fit.error().find("a clock was set"), std::string::npos) << fit.error();
}

TEST(ClockFit, NeedsPacketsBothWays) {
  Rng rng{tests::seed(), 4};
  ClockLimits limits = exchanged({}, {}, rng, 100, kS);
  limits.lower.clear();
  EXPECT_FALSE(fit_clock(limits, Instant{}, Instant::at_ps(kS)));
  EXPECT_EQ(fit_clock({}, Instant{}, Instant::at_ps(kS)).error(), "they share no packet");
}

TEST(ClockFit, SaysLittleOfATimeFarFromItsPackets) {
  Rng rng{tests::seed(), 5};
  const ClockLimits limits = exchanged({}, {.drift = 10e-6}, rng, 2'000, kS / 1000);
  const auto near = fit_clock(limits, Instant{}, Instant::at_ps(kS / 1000));
  const auto far = fit_clock(limits, Instant{}, Instant::at_ps(3600 * kS));
  ASSERT_TRUE(near && far);
  EXPECT_GT(far->uncertainty, Duration::ms(100)) << "an hour at up to 200 ppm";
  EXPECT_LT(near->uncertainty, Duration::us(12));
}

// A capture of `marks.size()` packets: (key, TTL, MACs, way, time).
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
}  // namespace softspine::tools::storm
