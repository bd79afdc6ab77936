// SPDX-License-Identifier: Apache-2.0
#include "dataplane/units/rng.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

namespace softspine::dataplane {
namespace {

TEST(Rng, IsSplitMix64) {
  Rng rng;  // stands one step after seed 0, whose published outputs begin E220A8397B1DCDAF, 6E789E6AA1B965F4, …
  EXPECT_EQ(rng.next(), 0x6E789E6AA1B965F4U);
  EXPECT_EQ(rng.next(), 0x06C45D188009454FU);
  EXPECT_EQ(rng.next(), 0xF88BB8A8724C81ECU);
}

TEST(Rng, TheSameSeedAndNodeGiveTheSameNumbers) {
  Rng a{42, 7};
  Rng b{42, 7};
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.next(), b.next());
}

TEST(Rng, EverySeedAndEveryNodeHasNumbersOfItsOwn) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    for (uint64_t node = 0; node < 100; ++node) first.insert(Rng{seed, node}.next());
  }
  EXPECT_EQ(first.size(), 10'000U);
}

TEST(Rng, NeighbouringNodesAreNotAlike) {
  int differing_bits = 0;
  constexpr int kNodes = 1000;
  for (uint64_t node = 0; node < kNodes; ++node) {
    differing_bits += std::popcount(Rng{1, node}.next() ^ Rng{1, node + 1}.next());
  }
  EXPECT_NEAR(static_cast<double>(differing_bits) / kNodes, 32.0, 1.0);  // 32 ± 4 sigma of 4/√1000
}

TEST(Rng, BelowIsUniform) {
  constexpr uint64_t kSides = 10;
  constexpr int kThrows = 100'000;
  std::array<int, kSides> seen{};
  Rng rng{3, 3};
  for (int i = 0; i < kThrows; ++i) {
    const uint64_t side = rng.below(kSides);
    ASSERT_LT(side, kSides);
    ++seen[side];
  }
  double chi_square = 0;
  for (const int n : seen) {
    const double off = n - kThrows / static_cast<double>(kSides);
    chi_square += off * off / (kThrows / static_cast<double>(kSides));
  }
  EXPECT_LT(chi_square, 27.9);  // 9 degrees of freedom, p = 0.001
  EXPECT_EQ(rng.below(1), 0U);
}

TEST(Rng, UnitIsInZeroToOne) {
  Rng rng{5, 0};
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double u = rng.unit();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.0116);  // 4 sigma of 1/√12 / 100
}

}  // namespace
}  // namespace softspine::dataplane
