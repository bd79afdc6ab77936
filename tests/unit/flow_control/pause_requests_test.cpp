// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/pause_requests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/unit/flow_control/priority_three.hpp"

namespace softspine::dataplane {
namespace {

using tests::kQuantum;
using tests::kThree;

constexpr Instant at_ps(int64_t ps) {
  return Instant::at(Duration::ps(ps));
}
constexpr PfcFrame three(uint16_t quanta) {
  return PfcFrame::of(1 << 3, quanta);
}

TEST(PauseRequests, LastFromXoffToXon) {
  PauseRequests requests;
  requests.apply(three(1'000), at_ps(10'000), kQuantum);
  EXPECT_EQ(requests.time(kThree, at_ps(10'000)), Duration{});
  EXPECT_EQ(requests.time(kThree, at_ps(10'001)), Duration::ps(1));
  requests.apply(three(0), at_ps(25'000), kQuantum);
  EXPECT_EQ(requests.time(kThree, at_ps(99'000)), Duration::ps(15'000));
  EXPECT_EQ(requests.time(Priority{4}, at_ps(99'000)), Duration{});
}

// By which who has seen it all before knows that he need not look again.
TEST(PauseRequests, CountWhatWasAppliedAndAreOverWithTheirTime) {
  PauseRequests requests;
  EXPECT_TRUE(requests.is_over(at_ps(0)));
  requests.apply(three(2), at_ps(100), kQuantum);
  EXPECT_EQ(requests.changes(), 1u);
  EXPECT_FALSE(requests.is_over(at_ps(101)));
  EXPECT_TRUE(requests.is_over(at_ps(100) + 2 * kQuantum));
  requests.apply(three(0), at_ps(200), kQuantum);
  requests.clear(at_ps(300));
  EXPECT_EQ(requests.changes(), 3u);
}

TEST(PauseRequests, LapseWhenTheirTimeRunsOut) {
  PauseRequests requests;
  requests.apply(three(2), at_ps(100), kQuantum);
  EXPECT_EQ(requests.time(kThree, at_ps(1'000'000)), Duration::ps(10'240));
  requests.apply(three(2), at_ps(1'000'000), kQuantum);
  requests.apply(three(0), at_ps(2'000'000), kQuantum);
  EXPECT_EQ(requests.time(kThree, at_ps(3'000'000)), Duration::ps(20'480));
}

TEST(PauseRequests, AreReplacedByALaterXoffLongerOrShorter) {
  PauseRequests requests;
  requests.apply(three(100), at_ps(0), kQuantum);
  requests.apply(three(1), at_ps(1'000), kQuantum);
  EXPECT_EQ(requests.time(kThree, at_ps(1'000'000)), Duration::ps(6'120));
}

TEST(PauseRequests, EndWithTheLink) {
  PauseRequests requests;
  requests.apply(three(100), at_ps(0), kQuantum);
  requests.clear(at_ps(7));
  EXPECT_EQ(requests.time(kThree, at_ps(1'000'000)), Duration::ps(7));
}

// Picosecond by picosecond: is a request in effect?
int64_t counted(const std::vector<std::pair<int64_t, uint16_t>>& frames, int64_t now) {
  int64_t total = 0;
  int64_t until = 0;
  size_t next = 0;
  for (int64_t t = 0; t < now; ++t) {
    while (next < frames.size() && frames[next].first == t) {
      until = t + kQuantum.count_ps() * frames[next].second;
      ++next;
    }
    total += t < until ? 1 : 0;
  }
  return total;
}

struct Asked : PauseObserver {
  void stood_still(Priority, PauseSpan) noexcept override {}
  void asked(Priority, PauseSpan span) noexcept override { sum += span.to - span.from; }
  Duration sum;
};

// The sender applies a frame when it begins to leave, which is before it arrives.
TEST(PauseRequests, AgreeAtBothEndsWhateverTheFrames) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng{seed, 0};
    PauseRequests sender;
    PauseRequests receiver;
    Asked asked;
    sender.observe(&asked);
    std::vector<std::pair<int64_t, uint16_t>> frames;
    int64_t arrives = 0;
    for (int i = 0; i < 20; ++i) {
      arrives += 1 + static_cast<int64_t>(rng.next() % 20'000);
      const auto quanta = static_cast<uint16_t>(rng.next() % 4);
      frames.emplace_back(arrives, quanta);
      sender.apply(three(quanta), at_ps(arrives), kQuantum);
      receiver.apply(three(quanta), at_ps(arrives), kQuantum);
      const int64_t now = arrives + static_cast<int64_t>(rng.next() % 2);
      ASSERT_EQ(sender.time(kThree, at_ps(now)), Duration::ps(counted(frames, now))) << "seed " << seed;
      ASSERT_EQ(receiver.time(kThree, at_ps(now)), sender.time(kThree, at_ps(now))) << "seed " << seed;
      const PauseSpan runs = sender.request(kThree);
      const Instant end = std::min(runs.to, at_ps(now));
      const Duration still = runs.from < end ? end - runs.from : Duration{};
      ASSERT_EQ(asked.sum + still, sender.time(kThree, at_ps(now))) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace softspine::dataplane
