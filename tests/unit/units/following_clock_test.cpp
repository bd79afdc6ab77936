// SPDX-License-Identifier: Apache-2.0
// Clocks of two ranks over a network, both simulated: what the second one shows, beside what the first one shows at the
// same true time.
#include "dataplane/engine/following_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr Duration kSpan = Duration::ms(50);

// A clock that is some parts in a million wrong, and began at some time.
class TwinClock final : public Clock {
 public:
  TwinClock(const Instant& true_now, double ppm, Duration offset)
      : now_(true_now), rate_(1 + ppm * 1e-6), offset_(offset) {}
  Instant horizon() noexcept override { return at(now_); }
  Instant at(Instant when) const {
    return Instant::at_ps(std::llround(static_cast<double>(when.count_ps()) * rate_)) + offset_;
  }
  void idle(Instant, uint32_t, const Wake&) noexcept override {}
  bool is_wall() const noexcept override { return true; }
  void start(Instant) noexcept override {}
  void jump(Duration by) { offset_ += by; }

 private:
  const Instant& now_;
  double rate_;
  Duration offset_;
};

struct Network {
  Duration there;  // from rank 0
  Duration back;
  Duration jitter;          // mean, in either direction
  Duration work0, work1;    // mean, before each sends
  Duration always_late1{};  // rank 1 always sends that much later
};

// Two ranks that exchange lots: both send, and go on when they have the other's.
class TwoRanks {
 public:
  TwoRanks(const Network& network, double ppm, Duration offset, uint64_t seed)
      : network_(network), own0_(now_, -ppm / 2, Duration{}), own1_(now_, ppm / 2, offset), rng_(seed, 1) {}

  void start() {
    clock1_.start({});
    for (int i = 0; i < 100; ++i) exchange();
    now_ = std::max(end0_, end1_);
    zero_ = own0_.at(now_);
    clock1_.set(zero_, Instant{});
  }
  void exchange() {
    const Instant sent0 = end0_ + drawn(network_.work0);
    const Instant sent1 = end1_ + drawn(network_.work1) + network_.always_late1;
    const Instant last_came0 = end0_;
    end0_ = std::max(sent0, sent1 + network_.back + drawn(network_.jitter));
    end1_ = std::max(sent1, sent0 + network_.there + drawn(network_.jitter));
    now_ = end1_;
    clock1_.see_theirs(own0_.at(sent0), clock1_.own());
    if (has_sent_) clock1_.see_ours(own1_.at(sent1_before_), own0_.at(last_came0));
    sent1_before_ = sent1;
    has_sent_ = true;
  }
  void run_for(Duration time, auto&& look) {
    for (const Instant end = now_ + time; now_ < end;) {
      exchange();
      clock1_.follow();
      look();
    }
  }
  // Of rank 1, now.
  Duration error() { return clock1_.horizon() - (Instant{} + (own0_.at(now_) - zero_)); }
  FollowingClock& clock1() { return clock1_; }
  TwinClock& own1() { return own1_; }
  Instant now() const { return now_; }

 private:
  Duration drawn(Duration mean) {
    return Duration::ps(static_cast<int64_t>(-std::log(1 - rng_.unit()) * static_cast<double>(mean.count_ps())));
  }

  Network network_;
  Instant now_ = Instant::at(Duration::s(1));
  TwinClock own0_;
  TwinClock own1_;
  FollowingClock clock1_{own1_, kSpan};
  Rng rng_;
  Instant end0_ = now_;
  Instant end1_ = now_;
  Instant zero_;
  Instant sent1_before_;
  bool has_sent_ = false;
};

Duration size_of(Duration d) {
  return std::max(d, Duration{} - d);
}
Duration drift(double ppm, Duration time) {
  return Duration::ps(static_cast<int64_t>(std::abs(ppm) * 1e-6 * static_cast<double>(time.count_ps())));
}

TEST(FollowingClock, ShowsWhatTheFirstRanksShows) {
  for (uint64_t seed = tests::seed(), end = seed + 60; seed < end; ++seed) {
    SCOPED_TRACE(testing::Message() << "again: SOFTSPINE_SEED=" << seed);
    Rng rng(seed, 0);
    const auto upto = [&rng](Duration most) {
      return Duration::ps(static_cast<int64_t>(rng.below(static_cast<uint64_t>(most.count_ps()))));
    };
    const Duration way = Duration::us(2) + upto(rng.below(2) == 0 ? Duration::us(20) : Duration::ms(1));
    const Duration further = upto(way / 4);
    const Network network{.there = way,
                          .back = way + further,
                          .jitter = way / 8,
                          .work0 = upto(Duration::us(200)),
                          .work1 = upto(Duration::us(200))};
    const double ppm = (rng.unit() - 0.5) * 200;
    TwoRanks ranks(network, ppm, upto(Duration::s(100)) - Duration::s(50), seed);
    ranks.start();
    // Half of the difference of the ways; what the quickest lots of a span have waited; and two spans of drift.
    const Duration allowed = further / 2 + way / 4 + drift(ppm, 3 * kSpan) + Duration::us(1);
    Duration worst;
    Duration unsaid;  // that uncertainty() left out
    ranks.run_for(Duration::s(3), [&] {
      worst = std::max(worst, size_of(ranks.error()));
      unsaid = std::max(unsaid, size_of(ranks.error()) - ranks.clock1().uncertainty());
    });
    EXPECT_LE(worst, allowed) << "way " << way.count_ps() << " ppm " << ppm;
    EXPECT_LE(unsaid, Duration{}) << "way " << way.count_ps() << " ppm " << ppm;
    EXPECT_LE(ranks.clock1().uncertainty(), way + further / 2 + way / 4 + drift(200, 3 * kSpan));
  }
}

TEST(FollowingClock, IsWrongByHalfOfTheDifferenceOfTheWays) {
  const Network network{.there = Duration::us(30),
                        .back = Duration::us(50),
                        .jitter = {},
                        .work0 = Duration::us(5),
                        .work1 = Duration::us(5)};
  TwoRanks ranks(network, 0, Duration::s(7), 1);
  ranks.start();
  ranks.run_for(Duration::s(1), [] {});
  EXPECT_EQ(size_of(size_of(ranks.error()) - Duration::us(10)).count_ps() / 1'000, 0) << ranks.error().count_ps();
  // Half of the ways, and 200 ppm of one span to two.
  EXPECT_GE(ranks.clock1().uncertainty(), Duration::us(49));
  EXPECT_LE(ranks.clock1().uncertainty(), Duration::us(61));
}

// Then one of the bounds is never tight, and only the other one moves the clock.
TEST(FollowingClock, IsWrongByHalfOfHowLateARankAlwaysIsAtMost) {
  const Duration late = Duration::us(400);
  const Network quick{.there = Duration::us(20),
                      .back = Duration::us(20),
                      .jitter = Duration::us(1),
                      .work0 = Duration::us(3),
                      .work1 = Duration::us(3)};
  for (const double ppm : {-40.0, 40.0}) {
    Network network = quick;
    network.always_late1 = late;
    TwoRanks ranks(network, ppm, Duration::ms(-3), 4);
    ranks.start();
    Duration worst;
    ranks.run_for(Duration::s(30), [&] {
      worst = std::max(worst, size_of(ranks.error()));
      ASSERT_LE(size_of(ranks.error()), ranks.clock1().uncertainty()) << ppm;
    });
    EXPECT_LE(worst, late / 2) << ppm;
    Network other = quick;
    other.work0 = late;  // now and then it is not
    TwoRanks others(other, ppm, Duration::ms(-3), 4);
    others.start();
    worst = {};
    others.run_for(Duration::s(30), [&] { worst = std::max(worst, size_of(others.error())); });
    EXPECT_LE(worst, Duration::us(20)) << ppm;
  }
}

TEST(FollowingClock, NeverGoesBackAndMakesUpForAJumpByAHundredth) {
  const Network network{.there = Duration::us(10),
                        .back = Duration::us(10),
                        .jitter = Duration::us(2),
                        .work0 = Duration::us(20),
                        .work1 = Duration::us(20)};
  for (const Duration jump : {Duration::ms(5), Duration::ms(-5)}) {
    TwoRanks ranks(network, 20, Duration{}, 9);
    ranks.start();
    ranks.run_for(Duration::ms(200), [] {});
    ranks.own1().jump(jump);
    Instant shown = ranks.clock1().horizon();
    Instant then = ranks.now();
    const Instant seen = then + 2 * kSpan;
    ranks.run_for(Duration::ms(700), [&] {
      if (ranks.now() > seen) {
        ASSERT_LE(size_of(ranks.error()), ranks.clock1().uncertainty());
      }
      const Instant now = ranks.clock1().horizon();
      const double rate =
          static_cast<double>((now - shown).count_ps()) / static_cast<double>((ranks.now() - then).count_ps());
      EXPECT_GT(rate, 0.9899);
      EXPECT_LT(rate, 1.0101);
      shown = now;
      then = ranks.now();
    });
    EXPECT_LE(size_of(ranks.error()), Duration::us(10)) << "after " << jump.count_ps();
  }
}

TEST(FollowingClock, WithoutLotsGoesAsItsOwn) {
  Instant now = Instant::at(Duration::s(5));
  TwinClock own(now, 0, Duration::s(3));
  FollowingClock clock(own, kSpan);
  clock.set(Instant::at(Duration::s(8)), Instant::at(Duration::us(7)));
  EXPECT_EQ(clock.horizon(), Instant::at(Duration::us(7)));
  EXPECT_EQ(clock.uncertainty(), Duration{});
  now = now + Duration::s(1);
  clock.follow();
  EXPECT_EQ(clock.horizon(), Instant::at(Duration::s(1) + Duration::us(7)));
}

}  // namespace
}  // namespace softspine::dataplane
