// SPDX-License-Identifier: Apache-2.0
// Swift against a second one, written from algorithm 1 of its paper in real numbers; and closed formulas.
#include "dataplane/congestion/swift.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

double real_of(const Fraction& f) {
  return static_cast<double>(f.part) / f.whole;
}

// The paper's lines, under their names; packets and seconds.
class SwiftReference {
 public:
  explicit SwiftReference(const SwiftParameters& p) : p_(p), cwnd_(p.initial_cwnd) {}

  double target_delay(int hops) const {
    const double range = p_.fs_range.seconds();
    const double least = 1 / std::sqrt(static_cast<double>(p_.fs_max_cwnd));
    const double alpha = range / (1 / std::sqrt(real_of(p_.fs_min_cwnd)) - least);
    const double beta = -alpha * least;
    const double fs = std::max(0.0, std::min(alpha / std::sqrt(cwnd_) + beta, range));
    return p_.base_target.seconds() + hops * p_.hop_scale.seconds() + fs;
  }
  void acknowledge(double now, double delay, uint64_t acked, int hops) {
    const double before = cwnd_;
    const double target = target_delay(hops);
    rtt_ = delay;
    retransmit_cnt_ = 0;
    if (delay < target) {
      cwnd_ += cwnd_ >= 1 ? real_of(p_.ai) / cwnd_ * static_cast<double>(acked)
                          : real_of(p_.ai) * static_cast<double>(acked);
    } else if (can_decrease(now)) {
      cwnd_ *= std::max(1 - real_of(p_.beta) * (delay - target) / delay, 1 - real_of(p_.max_mdf));
    }
    limit(now, before);
  }
  void time_out(double now) {
    const double before = cwnd_;
    if (++retransmit_cnt_ >= p_.retx_reset_threshold) {
      cwnd_ = real_of(p_.min_cwnd);
    } else if (can_decrease(now)) {
      cwnd_ *= 1 - real_of(p_.max_mdf);
    }
    limit(now, before);
  }
  void fast_recovery(double now) {
    const double before = cwnd_;
    if (can_decrease(now)) cwnd_ *= 1 - real_of(p_.max_mdf);
    limit(now, before);
  }
  double cwnd() const { return cwnd_; }

 private:
  bool can_decrease(double now) const { return now - t_last_decrease_ >= rtt_ - 1e-13; }
  void limit(double now, double before) {
    cwnd_ = std::max(real_of(p_.min_cwnd), std::min(cwnd_, static_cast<double>(p_.max_cwnd)));
    if (cwnd_ < before) t_last_decrease_ = now;
  }
  SwiftParameters p_;
  double cwnd_;
  double rtt_ = 0;
  double t_last_decrease_ = 0;
  uint32_t retransmit_cnt_ = 0;
};

SwiftParameters drawn_swift(Rng& rng) {
  SwiftParameters p;
  p.base_target = Duration::us(static_cast<int64_t>(5 + rng.below(50)));
  p.hop_scale = Duration::ns(static_cast<int64_t>(rng.below(5000)));
  p.fs_range = Duration::us(static_cast<int64_t>(rng.below(200)));
  p.fs_min_cwnd = {1, static_cast<uint32_t>(1 + rng.below(50))};
  p.fs_max_cwnd = static_cast<uint32_t>(2 + rng.below(200));
  p.ai = {static_cast<uint32_t>(1 + rng.below(10)), 10};
  p.beta = {static_cast<uint32_t>(1 + rng.below(10)), 10};
  p.max_mdf = {static_cast<uint32_t>(1 + rng.below(9)), 10};
  p.min_cwnd = {1, static_cast<uint32_t>(1 + rng.below(1000))};
  p.max_cwnd = static_cast<uint32_t>(50 + rng.below(500));
  p.initial_cwnd = static_cast<uint32_t>(1 + rng.below(50));
  p.retx_reset_threshold = static_cast<uint32_t>(1 + rng.below(6));
  return p;
}

// A packet of 2^20 bytes, so that the window has all of a cwnd's digits; below one packet the pace has them.
constexpr uint32_t kPacket = 1U << 20;

double cwnd_of(const Swift& swift, Duration rtt) {
  if (swift.rate_bps() == Swift::kNoLimit) return static_cast<double>(swift.window_bytes()) / kPacket;
  return static_cast<double>(swift.rate_bps()) * rtt.seconds() / (kPacket * 8.0);
}

TEST(Swift, FollowsAlgorithmOneOnTracesOfDelays) {
  const uint64_t seed = tests::seed();
  SCOPED_TRACE(seed);
  Rng rng{seed, 3};
  for (int round = 0; round < 60; ++round) {
    const SwiftParameters p = round == 0 ? SwiftParameters{} : drawn_swift(rng);
    Swift swift{p, Rate::gbps(100), kPacket};
    SwiftReference reference{p};
    int64_t now = 1'000'000'000;
    double odds = 0.5;
    Duration last;
    for (int i = 0; i < 2000; ++i) {
      now += static_cast<int64_t>(rng.below(20'000'000));
      if (rng.below(100) == 0) odds = rng.unit();
      const int hops = static_cast<int>(rng.below(6));
      const auto target = static_cast<double>(swift.target(static_cast<uint8_t>(hops)).count_ps());
      ASSERT_NEAR(target * 1e-12, reference.target_delay(hops), 1e-4 * reference.target_delay(hops)) << i;
      const Instant at = Instant::at_ps(now);
      if (rng.below(100) == 0) {
        swift.on_timeout(at);
        reference.time_out(at.seconds());
      } else if (rng.below(100) == 0) {
        swift.on_nak(at);
        reference.fast_recovery(at.seconds());
      } else {
        // Not so near to the target that rounding decides.
        const double factor = rng.unit() < odds ? 0.2 + 0.79 * rng.unit() : 1.01 + 4 * rng.unit();
        const auto rtt = static_cast<int64_t>(target * factor);
        const uint64_t acked = 1 + rng.below(4);
        last = Duration::ps(rtt);
        swift.on_ack(at, {.packets = acked, .rtt = Duration::ps(rtt), .hops = static_cast<uint8_t>(hops)});
        reference.acknowledge(at.seconds(), static_cast<double>(rtt) * 1e-12, acked, hops);
      }
      if (last == Duration{}) continue;  // without a round trip there is no pace
      ASSERT_NEAR(cwnd_of(swift, last), reference.cwnd(), 2e-3 * reference.cwnd()) << round << " " << i;
    }
  }
}

TEST(Swift, SpacesPacketsByMoreThanARoundTripBelowAWindowOfOne) {
  Swift swift{{.max_mdf = {1, 2}, .initial_cwnd = 1}, Rate::gbps(100), 4096};
  EXPECT_EQ(swift.rate_bps(), Swift::kNoLimit);
  EXPECT_EQ(swift.window_bytes(), 4096U);
  swift.on_sent(Instant{}, 4200);
  swift.on_ack(Instant::at(Duration::ms(10)), {.packets = 1, .rtt = Duration::ms(5)});
  // At most half at once: 4,200 bytes every 5 ms / 0.5.
  EXPECT_NEAR(static_cast<double>(swift.rate_bps()), 4200 * 8 / 10e-3, 100);
  EXPECT_EQ(swift.window_bytes(), 4096U) << "one packet is always allowed";
}

TEST(Swift, FlowScalingIsAllOfItsRangeForSmallWindowsAndNothingForLargeOnes) {
  Swift small{{.base_target = Duration::us(20),
               .hop_scale = Duration::us(1),
               .fs_range = Duration::us(100),
               .fs_min_cwnd = {1, 1},
               .initial_cwnd = 1},
              Rate::gbps(100),
              1024};
  EXPECT_NEAR(small.target(3).seconds(), 123e-6, 1e-9);
  Swift large{{.base_target = Duration::us(20), .fs_max_cwnd = 100, .initial_cwnd = 200}, Rate::gbps(100), 1024};
  EXPECT_EQ(large.target(0), Duration::us(20));
}

}  // namespace
}  // namespace softspine::dataplane
