// SPDX-License-Identifier: Apache-2.0
// Clocks of two captures, from the packets that both saw: against the skew and drift that the times were made with.
#include "analysis/storm/clock_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

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

// `n` packets each way at one time, all with this difference.
ClockLimits of_difference(Duration difference, size_t upper, size_t lower) {
  const ClockLimit limit{.at = Instant{}, .difference = difference};
  return {.upper = {upper, limit}, .lower = {lower, limit}, .packets = upper + lower};
}

TEST(ClockFit, NeedsThreePacketsEachWay) {
  EXPECT_TRUE(fit_clock(of_difference({}, 3, 3), Instant{}, Instant::at_ps(kS)));
  for (const auto& [upper, lower] : {std::pair{2, 5}, {5, 2}}) {
    const auto fit = fit_clock(of_difference({}, static_cast<size_t>(upper), static_cast<size_t>(lower)), Instant{},
                               Instant::at_ps(kS));
    ASSERT_FALSE(fit);
    EXPECT_EQ(fit.error(), "of 7 packets that both saw, too few went both ways");
  }
}

// 25 days are the limit, either way.
TEST(ClockFit, RefusesClocksThatAreWeeksApart) {
  const Duration most = Duration::s(25LL * 24 * 3600);
  for (const auto& [difference, is_far] : {std::pair{most, false},
                                           {Duration{} - most, false},
                                           {most + Duration::ps(1), true},
                                           {Duration{} - most - Duration::ps(1), true}}) {
    const auto fit = fit_clock(of_difference(difference, 3, 3), Instant{}, Instant{});
    EXPECT_EQ(fit.has_value(), !is_far) << difference.count_ps();
    if (is_far) {
      EXPECT_EQ(fit.error(), "they are weeks apart");
    }
  }
}

}  // namespace
}  // namespace softspine::analysis::storm
