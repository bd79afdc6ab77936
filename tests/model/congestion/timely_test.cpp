// SPDX-License-Identifier: Apache-2.0
// TIMELY against a second one, written from its paper and that of its patch in real numbers; and closed formulas.
#include "dataplane/congestion/timely.hpp"

#include <gtest/gtest.h>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr Rate kTimelyLine = Rate::gbps(40);
// A moving average that is rounded to a picosecond, of at least 5 us, moves the next rate by 0.2 ppm of the line; five
// in a row are allowed.
constexpr double kRounding = 5 * 40e9 * 1e-12 / 5e-6;

double real(const Fraction& f) {
  return static_cast<double>(f.part) / f.whole;
}

// The paper's lines, in their order and under their names; bit/s and seconds.
class Reference {
 public:
  explicit Reference(const TimelyParameters& p)
      : p_(p), rate_(static_cast<double>(kTimelyLine.count_bps()) * real(p.initial_rate)) {
    clamp();
  }
  void complete(double new_rtt) {
    const double new_rtt_diff = prev_rtt_ < 0 ? 0 : new_rtt - prev_rtt_;
    prev_rtt_ = new_rtt;
    rtt_diff_ = (1 - real(p_.alpha)) * rtt_diff_ + real(p_.alpha) * new_rtt_diff;
    const double normalized_gradient = rtt_diff_ / p_.min_rtt.seconds();
    negative_ = normalized_gradient <= 0 ? negative_ + 1 : 0;
    const double delta = static_cast<double>(p_.delta.count_bps());
    const double n = negative_ >= p_.hai_after ? p_.hai_steps : 1;
    if (new_rtt < p_.t_low.seconds()) {
      rate_ = rate_ + delta;
    } else if (new_rtt > p_.t_high.seconds()) {
      rate_ = rate_ * (1 - real(p_.beta) * (1 - p_.t_high.seconds() / new_rtt));
    } else if (p_.weighted) {
      const double weight = std::min(std::max(2 * normalized_gradient + 0.5, 0.0), 1.0);
      const double error = (new_rtt - p_.t_low.seconds()) / p_.t_low.seconds();
      rate_ = delta * (1 - weight) + rate_ * (1 - real(p_.beta) * weight * error);
    } else if (normalized_gradient <= 0) {
      rate_ = rate_ + n * delta;
    } else {
      rate_ = rate_ * (1 - real(p_.beta) * normalized_gradient);
    }
    clamp();
  }
  double rate() const { return rate_; }

 private:
  void clamp() {
    const double line = static_cast<double>(kTimelyLine.count_bps());
    const double least = std::min(static_cast<double>(p_.min_rate.count_bps()), line);
    rate_ = std::min(std::max(rate_, least), line);
  }
  TimelyParameters p_;
  double rate_;
  double prev_rtt_ = -1;
  double rtt_diff_ = 0;
  uint64_t negative_ = 0;
};

void complete(Timely& timely, Duration rtt) {
  timely.on_ack(Instant{}, {.bytes = 65'536, .rtt = rtt});
}

TimelyParameters drawn(Rng& rng) {
  TimelyParameters p;
  p.alpha = {static_cast<uint32_t>(1 + rng.below(8)), 8};
  p.beta = {static_cast<uint32_t>(1 + rng.below(10)), 10};
  p.delta = Rate::mbps(1 + rng.below(200));
  p.t_low = Duration::us(static_cast<int64_t>(10 + rng.below(90)));
  p.t_high = p.t_low + Duration::us(static_cast<int64_t>(1 + rng.below(500)));
  p.min_rtt = Duration::us(static_cast<int64_t>(5 + rng.below(50)));
  p.hai_after = static_cast<uint32_t>(1 + rng.below(6));
  p.hai_steps = static_cast<uint32_t>(1 + rng.below(10));
  p.weighted = rng.below(2) == 0;
  p.initial_rate = {1, static_cast<uint32_t>(1 + rng.below(10))};
  p.min_rate = Rate::mbps(1 + rng.below(1000));
  return p;
}

// RTTs that wander, jump, and stay within a band for a while, so that each of the four rules has its turn.
TEST(Timely, FollowsThePapersFormulasOnTracesOfRoundTripTimes) {
  const uint64_t seed = tests::seed();
  SCOPED_TRACE(seed);
  Rng rng{seed, 0};
  for (int round = 0; round < 40; ++round) {
    const TimelyParameters p = round == 0 ? TimelyParameters{} : drawn(rng);
    Timely timely{p, kTimelyLine};
    Reference reference{p};
    int64_t rtt = 80'000'000;
    for (int i = 0; i < 3000; ++i) {
      const int64_t step = static_cast<int64_t>(rng.below(8'000'001)) - 4'000'000;
      rtt = rng.below(50) == 0 ? static_cast<int64_t>(5'000'000 + rng.below(900'000'000))
                               : std::max<int64_t>(5'000'000, rtt + step);
      complete(timely, Duration::ps(rtt));
      reference.complete(static_cast<double>(rtt) * 1e-12);
      ASSERT_NEAR(static_cast<double>(timely.rate_bps()), reference.rate(), 1e-6 * reference.rate() + kRounding)
          << "round " << round << ", RTT " << i;
    }
  }
}

TEST(Timely, GrowsByOneStepAndFromTheFifthCompletionByFive) {
  TimelyParameters p;
  p.initial_rate = {1, 10};
  Timely timely{p, kTimelyLine};
  for (uint64_t i = 1; i <= 20; ++i) {
    complete(timely, Duration::us(100));
    const uint64_t steps = i < 5 ? i : 4 + 5 * (i - 4);
    ASSERT_EQ(timely.rate_bps(), 4'000'000'000 + steps * 10'000'000);
  }
}

TEST(Timely, CutsByWhatExceedsTheHighThreshold) {
  Timely timely{{}, kTimelyLine};
  complete(timely, Duration::us(1000));
  EXPECT_EQ(timely.rate_bps(), 24'000'000'000u) << "40 x (1 - 0.8 x (1 - 500/1000))";
}

TEST(Timely, CutsByTheGradientOfItsRoundTripTimes) {
  Timely timely{{}, kTimelyLine};
  complete(timely, Duration::us(100));
  complete(timely, Duration::us(108));
  EXPECT_EQ(timely.rate_bps(), 28'800'000'000u) << "40 x (1 - 0.8 x 0.875 x 8/20)";
}

// Where the gradient is 0 half of the step is added, and half of the error is cut: 20 Gb/s x 1/125 x 1/16 = 10 Mb/s.
TEST(Timely, PatchedStandsStillAtItsFixedPoint) {
  TimelyParameters p = Timely::kSets[1].parameters;
  p.initial_rate = {1, 2};
  Timely timely{p, kTimelyLine};
  for (int i = 0; i < 100; ++i) complete(timely, Duration::ns(53'125));
  EXPECT_EQ(timely.rate_bps(), 20'000'000'000u);
}

TEST(Timely, StaysBetweenItsLeastRateAndTheLine) {
  Timely timely{{}, kTimelyLine};
  complete(timely, Duration::us(100));
  EXPECT_EQ(timely.rate_bps(), kTimelyLine.count_bps());
  complete(timely, Duration::us(400));
  EXPECT_EQ(timely.rate_bps(), 10'000'000u) << "a gradient of 13 would take more than there is";
  Timely slow{{}, Rate::mbps(5)};
  complete(slow, Duration::ms(5));
  EXPECT_EQ(slow.rate_bps(), 5'000'000u) << "a line below the least rate";
}

TEST(Timely, LearnsNothingFromAnAcknowledgementWithoutARoundTripTime) {
  Timely timely{{}, kTimelyLine};
  complete(timely, Duration::us(1000));
  timely.on_ack(Instant{}, {.bytes = 1 << 20, .ecn = true});
  EXPECT_EQ(timely.rate_bps(), 24'000'000'000u);
}

}  // namespace
}  // namespace softspine::dataplane
