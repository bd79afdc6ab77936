// SPDX-License-Identifier: Apache-2.0
// What the algorithms do to flows: even shares by chi-square, and what a seed or an offset parts or does not.
//
// Bounds. Chi-square over m members with n flows: exceeded by chance once in a million (Wilson and Hilferty). With
// 63 group sizes and fixed seeds a failure is a fault of the hash, not bad luck.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

double one_in_a_million(double freedom) {
  constexpr double kQuantile = 4.753;
  const double a = 2 / (9 * freedom);
  return freedom * std::pow(1 - a + kQuantile * std::sqrt(a), 3);
}

double chi_square(const std::vector<uint32_t>& counts, double flows) {
  const double expected = flows / static_cast<double>(counts.size());
  double sum = 0;
  for (const uint32_t count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

HashKey two_words(uint64_t first, uint64_t second) {
  HashKey key{};
  key.words[0] = first;
  key.words[1] = second;
  key.count = 2;
  return key;
}

// A rack's neighbouring addresses and rising source ports and QPs: what flows really look like.
std::vector<HashKey> structured_flows(uint32_t flows) {
  std::vector<HashKey> keys;
  for (uint64_t i = 0; i < flows; ++i) {
    const uint64_t host = i % 64;
    const uint64_t port = i / 64;
    const uint64_t wire_port = 0xc0 | (port & 0xff) << 8 | (port >> 8 & 0x3f);
    keys.push_back(two_words(0x00020a000000010a | host << 56, uint64_t{17} << 32 | 0xb7120000 | wire_port));
  }
  return keys;
}

std::vector<uint32_t> shares(const EcmpHash& hash, const std::vector<HashKey>& keys, uint32_t members) {
  std::vector<uint32_t> counts(members);
  for (const HashKey& key : keys) ++counts[hash.of(key) % members];
  return counts;
}

TEST(Shares, OfRandomKeysAreAsEvenAsChanceWouldMakeThemWithEveryAlgorithm) {
  Rng rng{tests::seed(), 31};
  for (const HashAlgorithmRow& row : kHashAlgorithms) {
    if (row.is_drawn || !row.is_in(HashModel::kSai)) continue;
    const EcmpHash hash{{.algorithm = row.algorithm}};
    for (uint32_t members = 2; members <= 64; ++members) {
      const uint32_t flows = members * 500;
      std::vector<uint32_t> counts(members);
      for (uint32_t i = 0; i < flows; ++i) ++counts[hash.of(two_words(rng.next(), rng.next())) % members];
      EXPECT_LT(chi_square(counts, flows), one_in_a_million(members - 1)) << row.word << members;
    }
  }
}

TEST(Shares, OfNeighbouringFlowsAreEvenWithAMixingHashForAnyNumberOfMembers) {
  const auto keys = structured_flows(32'768);
  const EcmpHash mixing{{.algorithm = HashAlgorithm::kXxh3}};
  for (const uint32_t members : {2u, 3u, 7u, 8u, 16u, 60u, 64u, 128u, 509u, 512u}) {
    EXPECT_LT(chi_square(shares(mixing, keys, members), 32'768), one_in_a_million(members - 1)) << members;
  }
}

// The flows on one of 8 links of a first tier, over 8 links of a second: how many it uses, and max/mean.
struct Second {
  int used = 0;
  double max_over_mean = 0;
};
Second second_tier(const HashConfig& first, const HashConfig& second, const std::vector<HashKey>& keys,
                   uint32_t members) {
  std::vector<HashKey> shared;
  const EcmpHash above{first};
  for (const HashKey& key : keys) {
    if (above.of(key) % members == members - 1) shared.push_back(key);
  }
  const auto counts = shares(EcmpHash{second}, shared, members);
  const auto used = std::ranges::count_if(counts, [](uint32_t n) { return n != 0; });
  return {static_cast<int>(used),
          std::ranges::max(counts) * static_cast<double>(members) / static_cast<double>(shared.size())};
}

std::vector<HashKey> random_keys(uint32_t count) {
  Rng rng{tests::seed(), 33};
  std::vector<HashKey> keys;
  for (uint32_t i = 0; i < count; ++i) keys.push_back(two_words(rng.next(), rng.next()));
  return keys;
}

// CRC-16, 4,000 keys, 8 × 8 links. max/mean of 500 flows on 8 links by chance: mean 1.19, above 1.6 once in a million.
TEST(Polarization, OfRtag7IsWhatTheChipShows) {
  using enum HashAlgorithm;
  const auto keys = random_keys(4'000);
  const HashConfig crc16{.model = HashModel::kRtag7};
  HashConfig seeded = crc16;
  seeded.seed = 10;
  HashConfig rotated = seeded;
  rotated.offset = 10;
  HashConfig other = crc16;
  other.algorithm = kCrcCcitt;
  EXPECT_EQ(second_tier(crc16, crc16, keys, 8).used, 1);
  EXPECT_EQ(second_tier(crc16, seeded, keys, 8).used, 1) << "a seed only renames";
  EXPECT_EQ(second_tier(crc16, rotated, keys, 8).used, 8);
  EXPECT_LT(second_tier(crc16, rotated, keys, 8).max_over_mean, 1.6);
  EXPECT_EQ(second_tier(crc16, other, keys, 8).used, 8);
  EXPECT_LT(second_tier(crc16, other, keys, 8).max_over_mean, 1.6);
}

TEST(Polarization, OutlivesANewSeedWithEveryLinearAlgorithmAndPowersOfTwo) {
  const auto keys = random_keys(16'000);
  for (const HashAlgorithmRow& row : kHashAlgorithms) {
    if (row.is_drawn || !row.is_in(HashModel::kSai)) continue;
    for (const uint32_t members : {2u, 4u, 16u, 32u}) {
      const HashConfig plain{.algorithm = row.algorithm};
      HashConfig seeded = plain;
      seeded.seed = 0x1234567;
      const int used = second_tier(plain, seeded, keys, members).used;
      const bool mixes = row.seed == SeedEffect::kMixing;
      EXPECT_EQ(used, mixes ? static_cast<int>(members) : 1) << row.word << " of " << members;
    }
  }
}

TEST(Polarization, EndsWithANewSeedWhereTheMembersAreNoPowerOfTwo) {
  const auto keys = random_keys(16'000);
  for (const uint32_t members : {3u, 5u, 7u, 12u}) {
    EXPECT_GT(second_tier({}, {.seed = 0x1234567}, keys, members).used, 1) << members;
  }
}

TEST(EcmpHash, EveryBitOfTheKeyMatters) {
  Rng rng{tests::seed(), 34};
  for (const HashAlgorithmRow& row : kHashAlgorithms) {
    if (row.is_drawn || !row.is_in(HashModel::kSai)) continue;
    const EcmpHash hash{{.algorithm = row.algorithm}};
    const uint64_t a = rng.next();
    const uint64_t b = rng.next();
    for (int bit = 0; bit < 64; ++bit) {
      EXPECT_NE(hash.of(two_words(a ^ uint64_t{1} << bit, b)), hash.of(two_words(a, b))) << bit;
      EXPECT_NE(hash.of(two_words(a, b ^ uint64_t{1} << bit)), hash.of(two_words(a, b))) << bit;
    }
  }
}

}  // namespace
}  // namespace softspine::dataplane
