// SPDX-License-Identifier: Apache-2.0
// DCTCP against a second one, written in real numbers from its paper and the form that HPCC's authors gave it; and
// closed formulas.
#include "dataplane/congestion/dctcp.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

constexpr Rate kDctcpLine = Rate::gbps(100);

// One packet an acknowledgement. It keeps every acknowledgement, and counts them anew for each fraction.
class DctcpReference {
 public:
  explicit DctcpReference(const DctcpParameters& p) : p_(p) {}

  void acknowledge(uint64_t number, uint64_t next, bool marked) {
    marks_.push_back(marked);
    const bool batch = number + 1 > last_update_;
    if (batch) {
      if (last_update_ != 0) {
        double count = 0;
        for (size_t i = first_; i < marks_.size(); ++i) count += marks_[i] ? 1 : 0;
        const double fraction = count / static_cast<double>(marks_.size() - first_);
        const double g = static_cast<double>(p_.g.part) / p_.g.whole;
        alpha_ = (1 - g) * alpha_ + g * fraction;
        first_ = marks_.size();
      }
      last_update_ = next;
    }
    if (reduced_ && number + 1 > high_) reduced_ = false;
    if (marked && !reduced_) {
      rate_ = std::max(rate_ * (1 - alpha_ / 2), static_cast<double>(p_.min_rate.count_bps()));
      reduced_ = true;
      high_ = next;
    }
    if (batch && !reduced_) {
      const double line = static_cast<double>(kDctcpLine.count_bps());
      rate_ = std::min(rate_ + static_cast<double>(p_.ai_rate.count_bps()), line);
    }
  }
  double rate() const { return rate_; }
  double alpha() const { return alpha_; }

 private:
  DctcpParameters p_;
  std::vector<bool> marks_;
  size_t first_ = 0;
  double rate_ = static_cast<double>(kDctcpLine.count_bps());
  double alpha_ = 1;
  uint64_t last_update_ = 0;
  uint64_t high_ = 0;
  bool reduced_ = false;
};

TEST(Dctcp, FollowsItsFormulasOnTracesOfMarks) {
  const uint64_t seed = tests::seed();
  SCOPED_TRACE(seed);
  Rng rng{seed, 1};
  for (int round = 0; round < 30; ++round) {
    DctcpParameters p;
    if (round > 0) {
      p.g = {1, static_cast<uint32_t>(2 + rng.below(64))};
      p.ai_rate = Rate::mbps(1 + rng.below(3000));
      p.min_rate = Rate::mbps(10 + rng.below(1000));
    }
    Dctcp dctcp{p, kDctcpLine};
    DctcpReference reference{p};
    uint64_t next = 1 + rng.below(100);
    uint64_t odds = 10;
    for (uint64_t number = 0; number < 4000; ++number) {
      if (rng.below(200) == 0) odds = rng.below(101);
      next = std::max(number + 1, next + rng.below(3));
      const bool marked = rng.below(100) < odds;
      dctcp.on_ack(Instant{}, {.bytes = 1000, .packets = 1, .acked = number + 1, .next = next, .echo = marked});
      reference.acknowledge(number, next, marked);
      ASSERT_NEAR(static_cast<double>(dctcp.alpha()) / Dctcp::kAlphaOne, reference.alpha(), 2e-4) << number;
      ASSERT_NEAR(static_cast<double>(dctcp.rate_bps()), reference.rate(), 2e-3 * reference.rate()) << number;
    }
  }
}

// At rest with a part F of marks in every round trip, alpha is F.
TEST(Dctcp, AlphaIsThePartOfMarkedPackets) {
  Dctcp dctcp{{}, kDctcpLine};
  for (uint64_t i = 0; i < 8000; ++i)
    dctcp.on_ack(Instant{}, {.packets = 1, .acked = i + 1, .next = i + 41, .echo = i % 4 == 0});
  EXPECT_NEAR(static_cast<double>(dctcp.alpha()) / Dctcp::kAlphaOne, 0.25, 0.02);
}

TEST(Dctcp, BeginsAtLineRateWithTheWindowOfTheLongestPath) {
  Dctcp dctcp{{.rtt = Duration::us(13)}, kDctcpLine};
  EXPECT_EQ(dctcp.rate_bps(), 100'000'000'000U);
  EXPECT_EQ(dctcp.window_bytes(), 162'500U);
  dctcp.on_ack(Instant{}, {.packets = 1, .acked = 1, .next = 100, .echo = true});
  EXPECT_EQ(dctcp.rate_bps(), 50'000'000'000U) << "alpha begins at 1";
  EXPECT_EQ(dctcp.window_bytes(), 81'250U);
  for (uint64_t i = 1; i < 100; ++i) dctcp.on_ack(Instant{}, {.packets = 1, .acked = i + 1, .next = 120, .echo = true});
  EXPECT_EQ(dctcp.rate_bps(), 50'000'000'000U) << "one cut a round trip";
}

}  // namespace
}  // namespace softspine::dataplane
