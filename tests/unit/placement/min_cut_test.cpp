// SPDX-License-Identifier: Apache-2.0
// Placements by min_cut against all that there are, and against cuts that are known.
#include "control/placement/min_cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

using Pairs = std::map<std::pair<uint32_t, uint32_t>, double>;

Talks traffic_of(size_t ranks, const Pairs& pairs) {
  Talks out(ranks);
  for (const auto& [pair, bytes] : pairs) {
    out[pair.first].push_back({pair.second, bytes});
    out[pair.second].push_back({pair.first, bytes});
  }
  for (auto& talks : out) std::ranges::sort(talks, {}, &Talk::peer);
  return out;
}

double cut(const Pairs& pairs, const std::vector<uint32_t>& island_of) {
  double out = 0;
  for (const auto& [pair, bytes] : pairs) out += island_of[pair.first] == island_of[pair.second] ? 0 : bytes;
  return out;
}

std::vector<uint32_t> all(size_t ranks) {
  std::vector<uint32_t> out(ranks);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

void expect_room(const std::vector<uint32_t>& island_of, const std::vector<uint32_t>& room) {
  for (uint32_t island = 0; island < room.size(); ++island)
    EXPECT_LE(static_cast<uint32_t>(std::ranges::count(island_of, island)), room[island]);
}

double least_of_all(size_t ranks, const Pairs& pairs, std::vector<uint32_t> room) {
  std::vector<uint32_t> island_of(ranks);
  double least = HUGE_VAL;
  const std::function<void(size_t)> place = [&](size_t rank) {
    if (rank == ranks) {
      least = std::min(least, cut(pairs, island_of));
      return;
    }
    for (uint32_t island = 0; island < room.size(); ++island) {
      if (room[island] == 0) continue;
      --room[island];
      island_of[rank] = island;
      place(rank + 1);
      ++room[island];
    }
  };
  place(0);
  return least;
}

// Of a thousand such graphs moves and swaps leave one or two above the least.
TEST(MinCut, IsTheLeastOfAllPlacementsOfSmallGraphs) {
  std::mt19937_64 random(tests::seed());
  for (int i = 0; i < 2'000; ++i) {
    const size_t ranks = 2 + random() % 7;
    std::vector<uint32_t> room(2 + random() % 2);
    do {
      for (uint32_t& each : room) each = static_cast<uint32_t>(random() % (ranks + 1));
    } while (std::accumulate(room.begin(), room.end(), 0U) < ranks);
    Pairs pairs;
    const uint64_t density = 1 + random() % 4;
    for (uint32_t a = 0; a < ranks; ++a) {
      for (uint32_t b = a + 1; b < ranks; ++b) {
        if (random() % 4 < density) pairs[{a, b}] = static_cast<double>(1 + random() % 9);
      }
    }
    const Talks talks = traffic_of(ranks, pairs);
    const std::vector<uint32_t> placed = min_cut(talks, all(ranks), room);
    expect_room(placed, room);
    EXPECT_EQ(cut(pairs, placed), least_of_all(ranks, pairs, room)) << "graph " << i;
    EXPECT_EQ(cut(pairs, placed), cut_of(talks, all(ranks), placed));
  }
}

TEST(MinCut, KeepsGroupsTogetherWhoseMembersAreFarApartInRank) {
  for (const uint32_t groups : {2U, 3U, 8U}) {
    const uint32_t size = 12;
    Pairs pairs;
    for (uint32_t a = 0; a < groups * size; ++a) {
      for (uint32_t b = a + 1; b < groups * size; ++b) pairs[{a, b}] = a % groups == b % groups ? 10 : 0.1;
    }
    const std::vector<uint32_t> room(groups, size);
    const auto placed = min_cut(traffic_of(groups * size, pairs), all(groups * size), room);
    expect_room(placed, room);
    EXPECT_NEAR(cut(pairs, placed), 0.1 * size * size * groups * (groups - 1) / 2, 1e-6) << groups;
  }
}

TEST(MinCut, CutsARingOnceForEachIsland) {
  for (const uint32_t islands : {2U, 5U, 16U}) {
    const uint32_t ranks = islands * 24;
    Pairs pairs;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const uint32_t next = (rank + 1) % ranks;
      pairs[{std::min(rank, next), std::max(rank, next)}] = 1;
    }
    const auto placed = min_cut(traffic_of(ranks, pairs), all(ranks), std::vector<uint32_t>(islands, 24));
    EXPECT_EQ(cut(pairs, placed), islands);
  }
}

TEST(MinCut, TakesTheSmallestIslandThatHoldsAll) {
  const Talks talks = traffic_of(3, {{{0, 1}, 1.0}, {{1, 2}, 1.0}});
  EXPECT_EQ(min_cut(talks, all(3), std::vector<uint32_t>{9, 3, 2, 4}), (std::vector<uint32_t>{1, 1, 1}));
}

// A ring is cut twice wherever it is cut. Of cuts that are alike the first is kept: it begins with the first rank.
TEST(MinCut, OfEqualCutsKeepsTheOneThatBeginsWithTheFirstRank) {
  for (const uint32_t size : {3U, 5U, 8U}) {
    Pairs ring;
    for (uint32_t rank = 0; rank < 2 * size; ++rank) {
      const uint32_t next = (rank + 1) % (2 * size);
      ring[{std::min(rank, next), std::max(rank, next)}] = 1;
    }
    const auto placed = min_cut(traffic_of(2 * size, ring), all(2 * size), std::vector<uint32_t>(2, size));
    EXPECT_EQ(cut(ring, placed), 2);
    EXPECT_EQ(placed[0], 0u) << "on the first of islands that are alike";
    EXPECT_EQ(placed[1], 0u) << "with the first of the two that it talks to";
    EXPECT_EQ(std::ranges::count(placed, 0u), static_cast<ptrdiff_t>(size));
  }
}

// Nothing is decided by how many bytes a unit has: powers of two scale doubles exactly.
TEST(MinCut, IsTheSameInWhateverUnitTrafficIsCounted) {
  std::mt19937_64 random(tests::seed());
  for (int i = 0; i < 100; ++i) {
    const size_t ranks = 4 + random() % 9;
    const std::vector<uint32_t> room(2 + random() % 2, static_cast<uint32_t>(ranks));
    Pairs pairs;
    Pairs tiny;
    Pairs huge;
    for (uint32_t a = 0; a < ranks; ++a) {
      for (uint32_t b = a + 1; b < ranks; ++b) {
        const auto bytes = static_cast<double>(1 + random() % 1'000);
        if (random() % 3 == 0) continue;
        pairs[{a, b}] = bytes;
        tiny[{a, b}] = std::ldexp(bytes, -60);
        huge[{a, b}] = std::ldexp(bytes, 60);
      }
    }
    std::vector<uint32_t> halves = room;
    halves.back() = halves.front() = static_cast<uint32_t>(ranks / 2 + 1);
    const auto placed = min_cut(traffic_of(ranks, pairs), all(ranks), halves);
    EXPECT_EQ(min_cut(traffic_of(ranks, tiny), all(ranks), halves), placed) << i;
    EXPECT_EQ(min_cut(traffic_of(ranks, huge), all(ranks), halves), placed) << i;
  }
}

TEST(MinCut, AsksOnlyTheRanksThatItIsGiven) {
  const Talks talks = traffic_of(6, {{{0, 1}, 50}, {{1, 3}, 1}, {{3, 5}, 2}, {{1, 5}, 3}, {{2, 5}, 99}});
  const std::vector<uint32_t> ranks{1, 3, 5};
  const auto placed = min_cut(talks, ranks, std::vector<uint32_t>{2, 1});
  EXPECT_EQ(placed[0], placed[2]);
  EXPECT_NE(placed[0], placed[1]);
  EXPECT_EQ(cut_of(talks, ranks, placed), 3);
}

}  // namespace
}  // namespace softspine::control
