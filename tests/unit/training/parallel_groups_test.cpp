// SPDX-License-Identifier: Apache-2.0
// Against the definition: the ranks that have the same coordinates but for one.
#include "control/training/parallel_groups.hpp"

#include <gtest/gtest.h>

#include <set>

namespace softspine::control {
namespace {

using Members = std::set<uint32_t>;

struct Coordinates {
  uint32_t tensor;
  uint32_t expert;
  uint32_t rest;
};

Coordinates of(uint32_t rank, const ParallelSizes& sizes) {
  return {rank % sizes.tensor, rank / sizes.tensor % sizes.expert, rank / sizes.tensor / sizes.expert};
}

bool are_together(const Coordinates& a, const Coordinates& b, GroupKind kind) {
  switch (kind) {
    case GroupKind::kTensor: return a.expert == b.expert && a.rest == b.rest;
    case GroupKind::kData: return a.tensor == b.tensor;
    case GroupKind::kExpert: return a.tensor == b.tensor && a.rest == b.rest;
    case GroupKind::kDataOfExperts: return a.tensor == b.tensor && a.expert == b.expert;
  }
  return false;
}

TEST(ParallelGroups, JoinRanksThatDifferInOneCoordinate) {
  for (const uint32_t ranks : {1U, 8U, 24U, 64U}) {
    for (const ParallelSizes& sizes :
         {ParallelSizes{1, 1}, ParallelSizes{2, 4}, ParallelSizes{8, 1}, ParallelSizes{1, 8}, ParallelSizes{4, 2}}) {
      if (!ParallelGroups::fit(ranks, sizes)) continue;
      const ParallelGroups groups(ranks, sizes);
      for (const auto& [word, kind] : kGroupWords) {
        std::set<uint32_t> numbers;
        for (uint32_t rank = 0; rank < ranks; ++rank) {
          Members expected;
          for (uint32_t other = 0; other < ranks; ++other) {
            if (are_together(of(rank, sizes), of(other, sizes), kind)) expected.insert(other);
          }
          const RankGroup group = groups.of(kind, rank);
          const std::vector<uint32_t> all = group.all();
          EXPECT_EQ(Members(all.begin(), all.end()), expected) << word << " of rank " << rank;
          EXPECT_EQ(group.rank(group.position_of(rank)), rank) << word;
          EXPECT_EQ(group.size, groups.size(kind)) << word;
          numbers.insert(groups.number_of(kind, rank));
        }
        EXPECT_EQ(numbers.size(), groups.count(kind)) << word;
        EXPECT_EQ(*numbers.rbegin() + 1, groups.count(kind)) << word;
      }
    }
  }
}

TEST(ParallelGroups, FitIfRanksAreAMultiple) {
  EXPECT_TRUE(ParallelGroups::fit(16, {8, 2}));
  EXPECT_FALSE(ParallelGroups::fit(12, {8, 1}));
  EXPECT_FALSE(ParallelGroups::fit(16, {8, 4}));
}

}  // namespace
}  // namespace softspine::control
