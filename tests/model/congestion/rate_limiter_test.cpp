// SPDX-License-Identifier: Apache-2.0
// When a frame may go, against the integral of the rate: stretch by stretch, in 128 bits.
#include "dataplane/congestion/rate_limiter.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dataplane/congestion/notification_point.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr Rate kLine = Rate::gbps(40);

Instant us(int64_t n) {
  return Instant::at(Duration::us(n));
}

// A reaction point of its own, and how many bits × 10^12 it has let out: no bucket, no credit.
class Meter {
 public:
  explicit Meter(const ReactionParameters& parameters) : point_(parameters, kLine) {}
  Uint128 passed(Instant now) {
    while (point_.next_change() <= now) {
      const Instant change = point_.next_change();
      count(change);
      point_.advance(change);
    }
    count(now);
    return passed_;
  }
  ReactionPoint& point() { return point_; }

 private:
  void count(Instant now) {
    passed_ += static_cast<Uint128>(point_.current_bps()) * static_cast<uint64_t>((now - at_).count_ps());
    at_ = now;
  }
  ReactionPoint point_;
  Uint128 passed_ = 0;
  Instant at_;
};

// Asks again when told to, as a host does.
Instant first_chance(RateLimiter& limiter, Instant now) {
  for (;;) {
    const Instant at = limiter.eligible(now);
    if (at == now) return now;
    now = at;
  }
}

TEST(RateLimiter, AFrameGoesAtThePicosecondAtWhichTheOneBeforeHasDrained) {
  const uint64_t seed = tests::seed();
  SCOPED_TRACE(seed);
  Rng rng{seed, 0};
  for (const ReactionParameters& parameters : {ReactionParameters::paper(), ReactionParameters::connectx()}) {
    RateLimiter limiter{Rate{}, parameters, kLine};
    Meter meter{parameters};
    int compared = 0;
    Instant now = us(3);
    Uint128 over = 0;  // let out beyond what was needed, by the picosecond's rounding: the next frame has it
    for (int i = 0; i < 20'000; ++i) {
      (void)meter.passed(now);
      if (i == 0 || rng.below(40) == 0) {
        limiter.on_cnp(now);
        meter.point().on_cnp(now);
      }
      const auto bytes = static_cast<uint32_t>(84 + rng.below(4200));
      const bool was_limited = meter.point().is_limited();
      const Uint128 before = meter.passed(now);
      limiter.sent(now, bytes);
      meter.point().on_sent(now, bytes);
      if (!was_limited || !meter.point().is_limited()) {
        over = 0;
        now = now + Duration::us(static_cast<int64_t>(rng.below(5)));
        continue;
      }
      const Instant next = first_chance(limiter, now);
      const Uint128 needed = static_cast<Uint128>(bytes) * 8 * 1'000'000'000'000ULL - over;
      Meter probe = meter;
      const Uint128 just_before = probe.passed(next - Duration::ps(1)) - before;
      const Uint128 passed = meter.passed(next) - before;
      now = next;
      if (meter.point().is_limited()) {
        ASSERT_LT(just_before, needed) << i;
        ASSERT_GE(passed, needed) << i;
        over = passed - needed;
        ++compared;
      } else {  // became free on the way
        over = 0;
      }
    }
    EXPECT_GT(compared, 15'000) << "the test has to test something";
  }
}

TEST(RateLimiter, KeepsAConfiguredRateOverWaitsThatItsCreditCovers) {
  RateLimiter limiter{Rate::gbps(10), CongestionParameters{}, kLine};
  Rng rng{7, 0};
  Instant now;
  uint64_t bytes = 0;
  constexpr uint32_t kFrame = 4178;
  limiter.sent(now, kFrame);
  while (now < us(10'000)) {
    now = first_chance(limiter, now) + Duration::ns(static_cast<int64_t>(rng.below(4'000)));  // 5 KB at most
    limiter.sent(now, kFrame);
    bytes += kFrame;
  }
  EXPECT_NEAR(static_cast<double>(bytes) * 8 / now.seconds(), 10e9, 10e9 * 0.005);
}

// Who rests for a second at 10 Gb/s has not earned a second's bytes: kCreditBytes pass at once, and the frame that
// overdraws them.
TEST(RateLimiter, ARestIsMadeUpForByTheCreditAndNoMore) {
  RateLimiter limiter{Rate::gbps(10), CongestionParameters{}, kLine};
  constexpr uint32_t kFrame = 1'024;
  Instant now;
  limiter.sent(now, kFrame);
  for (const int64_t rest_us : {20, 1'000'000, 10'000'000}) {
    now = now + Duration::us(rest_us);
    uint32_t at_once = 0;
    while (limiter.eligible(now) == now) {
      limiter.sent(now, kFrame);
      at_once += kFrame;
    }
    EXPECT_EQ(at_once, RateLimiter::kCreditBytes + kFrame) << "after " << rest_us << " us";
    EXPECT_EQ(limiter.eligible(now), now + Rate::gbps(10).time_of_bytes(kFrame));
  }
}

TEST(RateLimiter, TheSlowerOfTwoRatesHolds) {
  RateLimiter limiter{Rate::gbps(30), ReactionParameters::paper(), kLine};
  limiter.sent(us(0), 3000);
  EXPECT_EQ(limiter.eligible(us(0)), Instant::at(Duration::ns(800)));
  limiter.on_cnp(us(0));  // 40 → 20
  EXPECT_EQ(limiter.eligible(us(0)), Instant::at(Duration::ns(1200)));
}

TEST(RateLimiter, NobodyIsHeldUpBeforeTheFirstCnp) {
  RateLimiter limiter{Rate{}, ReactionParameters::connectx(), kLine};
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(limiter.eligible(us(0)), us(0));
    limiter.sent(us(0), 4178);
  }
}

TEST(NotificationPoint, AnswersTheFirstMarkAndThenOneAnInterval) {
  NotificationPoint point;
  std::vector<int64_t> answered;
  for (int64_t t = 10; t < 200; t += 7) {
    if (point.answers(us(t), NotificationPoint::kInterval)) answered.push_back(t);
  }
  EXPECT_EQ(answered, (std::vector<int64_t>{10, 66, 122, 178}));
}

TEST(ReactionPoint, HalvesWithTheFirstCnpAndIsBackAfterFiveHalvingsOfTheDistance) {
  ReactionPoint point{ReactionParameters::paper(), kLine};
  point.on_cnp(us(0));
  EXPECT_EQ(point.rate_bps(), 20'000'000'000u);
  EXPECT_EQ(point.target_bps(), 40'000'000'000u);
  point.advance(us(5 * 55));
  EXPECT_EQ(point.rate_bps(), 39'375'000'000u);
  EXPECT_EQ(point.next_change(), us(6 * 55));
}

TEST(ReactionPoint, AnAdapterCutsByHalfAtMostAndOnceInFourMicroseconds) {
  ReactionPoint point{ReactionParameters::connectx(), kLine};
  point.on_cnp(us(0));
  const uint64_t once = point.rate_bps();
  EXPECT_EQ(once, 40'000'000'000u - 40'000'000'000u * 1023 / 2048);
  point.on_cnp(us(3));
  EXPECT_EQ(point.rate_bps(), once);
  point.on_cnp(us(4));
  EXPECT_LT(point.rate_bps(), once);
  EXPECT_EQ(point.target_bps(), 40'000'000'000u) << "it has not grown in between, so the target stays";
}

TEST(ReactionPoint, ACutTakesAtMostItsShareOfTheRate) {
  ReactionParameters parameters = ReactionParameters::paper();
  parameters.min_dec_fac = {1, 10};
  ReactionPoint point{parameters, kLine};
  point.on_cnp(us(0));
  EXPECT_EQ(point.rate_bps(), 36'000'000'000u) << "alpha would halve it";
}

// RC is line rate again: nothing is limited, and no counter runs.
TEST(ReactionPoint, ALineThatCannotBeCutIsNotLimited) {
  ReactionPoint point{ReactionParameters::paper(), Rate::mbps(1)};
  point.on_cnp(us(0));
  EXPECT_EQ(point.current_bps(), 1'000'000u);
  EXPECT_FALSE(point.is_limited());
  EXPECT_TRUE(point.next_change().is_never());
}

TEST(ReactionPoint, IsFreeWhenItHasReachedTheLineAgain) {
  ReactionParameters parameters = ReactionParameters::paper();
  ReactionPoint point{parameters, kLine};
  point.on_cnp(us(0));
  int64_t periods = 0;
  while (point.is_limited() && periods < 10'000) point.advance(us(55 * ++periods));
  EXPECT_EQ(point.current_bps(), kLine.count_bps());
  EXPECT_FALSE(point.is_limited());
  EXPECT_TRUE(point.next_change().is_never());
}

}  // namespace
}  // namespace softspine::dataplane
