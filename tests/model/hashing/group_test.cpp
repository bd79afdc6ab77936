// SPDX-License-Identifier: Apache-2.0
// Resilient buckets and flowlets, by what they promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "dataplane/hashing/ecmp_group.hpp"
#include "dataplane/hashing/flowlet_table.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

std::vector<uint32_t> owners(uint32_t buckets, const std::vector<bool>& alive) {
  std::vector<uint32_t> out;
  for (uint32_t b = 0; b < buckets; ++b) {
    out.push_back(resilient_owner(b, static_cast<uint32_t>(alive.size()), [&](uint32_t m) { return alive[m]; }));
  }
  return out;
}

// Members die and come back at random: whatever happens, a bucket moves only if its owner died, or comes back.
TEST(Resilient, MovesOnlyTheDeadMembersBuckets) {
  Rng rng{tests::seed(), 51};
  for (int round = 0; round < 200; ++round) {
    const auto members = static_cast<uint32_t>(2 + rng.below(30));
    const auto buckets = static_cast<uint32_t>(members + rng.below(500));
    std::vector<bool> alive(members, true);
    std::vector<uint32_t> before = owners(buckets, alive);
    for (int change = 0; change < 20; ++change) {
      const uint64_t member = rng.below(members);
      if (alive[member] && std::ranges::count(alive, true) == 1) continue;
      alive[member] = !alive[member];
      const std::vector<uint32_t> after = owners(buckets, alive);
      for (uint32_t b = 0; b < buckets; ++b) {
        if (before[b] == after[b]) continue;
        ASSERT_EQ(alive[member] ? after[b] : before[b], member) << "bucket " << b << " has nothing to do with it";
      }
      ASSERT_EQ(std::ranges::count(after, member) > 0, alive[member]);
      before = after;
    }
    ASSERT_TRUE(std::ranges::all_of(before, [&](uint32_t m) { return alive[m]; }));
  }
}

TEST(Resilient, DealsADeadMembersBucketsOutEvenly) {
  constexpr uint32_t kMembers = 8;
  constexpr uint32_t kBuckets = 8 * 7 * 4;
  std::vector<bool> alive(kMembers, true);
  alive[3] = false;
  const auto after = owners(kBuckets, alive);
  for (uint32_t m = 0; m < kMembers; ++m) {
    EXPECT_EQ(std::ranges::count(after, m), m == 3 ? 0 : 28 + 4) << m;
  }
}

TEST(Resilient, KnowsWhenNobodyIsLeft) {
  EXPECT_EQ(resilient_owner(5, 4, [](uint32_t) { return false; }), 4u);
}

TEST(Draws, AreTheSameForTheSameChanceAndSpread) {
  Draws one;
  Draws two;
  std::vector<uint32_t> counts(16);
  for (int i = 0; i < 16'000; ++i) {
    const uint32_t draw = one.next(99);
    ASSERT_EQ(draw, two.next(99));
    ++counts[draw % 16];
  }
  EXPECT_EQ(one.drawn, 16'000u);
  double chi = 0;
  for (const uint32_t n : counts) chi += (n - 1000.0) * (n - 1000.0) / 1000;
  EXPECT_LT(chi, 60) << "15 degrees of freedom: above it once in a million";
}

// Against a map of what each flow did last.
TEST(Flowlets, BeginAfterAGapAndNotBefore) {
  Rng rng{tests::seed(), 52};
  const FlowletConfig config{.gap = Duration::us(50), .slots = 1 << 16};
  FlowletTable table;
  std::map<uint32_t, std::pair<Instant, uint32_t>> last;
  Instant now{};
  uint32_t drawn = 0;
  for (int i = 0; i < 20'000; ++i) {
    now = now + Duration::ns(static_cast<int64_t>(rng.below(20'000)));
    const auto flow = static_cast<uint32_t>(rng.below(8)) * 0x01010101;
    const auto found = last.find(flow);
    const bool is_new = found == last.end() || now - found->second.first > config.gap;
    const uint32_t before = drawn;
    const uint32_t draw = table.draw_of(config, flow, now, [&] { return ++drawn; });
    ASSERT_EQ(drawn - before, is_new ? 1u : 0u) << i;
    ASSERT_EQ(draw, is_new ? drawn : found->second.second);
    last[flow] = {now, draw};
  }
  EXPECT_EQ(table.begun(), drawn);
  EXPECT_GT(drawn, 100u);
}

// Packets that follow within the gap keep the draw, the gap itself included; one that comes later has a new one.
TEST(Flowlets, ADrawHoldsUntilThePauseIsLongerThanTheGap) {
  FlowletTable table;
  const FlowletConfig config{.gap = Duration::us(50), .slots = 16};
  uint32_t drawn = 0;
  const auto ask = [&](Instant now) { return table.draw_of(config, 7, now, [&] { return ++drawn; }); };
  Instant now = Instant::at(Duration::us(10));
  EXPECT_EQ(ask(now), 1u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(now = now + Duration::us(50)), 1u) << "as long as the gap";
  EXPECT_EQ(ask(now = now + Duration::us(50) + Duration::ps(1)), 2u);
  EXPECT_EQ(ask(now), 2u);
  EXPECT_EQ(table.begun(), 2u);
}

}  // namespace
}  // namespace softspine::dataplane
