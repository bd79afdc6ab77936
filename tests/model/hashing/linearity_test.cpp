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
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"
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

constexpr uint32_t kLinks = 60;

// How many of all hashes each pair of links has: the leaf's and the ToR's.
std::vector<uint32_t> pairs_of_sonics(uint32_t seed) {
  const EcmpHash tor{{.model = HashModel::kRtag7}};
  const EcmpHash leaf{{.model = HashModel::kRtag7, .seed = seed, .offset = 10}};
  std::vector<uint32_t> counts(kLinks * kLinks);
  for (uint64_t source = 0; source < 65'536; ++source) {
    const HashKey key = two_words(0x12b7'0011'0000'0000, source);
    ++counts[tor.of(key) % kLinks * kLinks + leaf.of(key) % kLinks];
  }
  return counts;
}

// 60 × 60 links, all flows of a fabric, and both hashes SONiC's (ToR: 0, leaf: seed 10 and offset 10). One bin of the
// key takes all its 65,536 values, so the hash does, too, each once: what follows is exact, and no matter of keys.
// Rotating 16 bits by 10 multiplies by 64 modulo 2^16 − 1; 60 and 2^16 − 1 have the factor 15 in common and 64 is 4
// modulo 15, so of two hashes that differ in the rotation alone the one tells the other modulo 15: 60 × 4 = 240 pairs
// of 3,600. The seed's part is added without carries, which undoes that: a bucket of the first tier meets 40 of 60.
TEST(Polarization, OfSonicsLeafOverAToRUsesTwoThirdsOfSixtyBySixty) {
  const auto used = [](const std::vector<uint32_t>& counts) {
    return counts.size() - static_cast<size_t>(std::ranges::count(counts, 0u));
  };
  EXPECT_EQ(used(pairs_of_sonics(0)), 240u);
  const std::vector<uint32_t> sonic = pairs_of_sonics(10);
  EXPECT_EQ(used(sonic), 2'400u);
  EXPECT_EQ(std::ranges::max(sonic), 36u) << "1.98 times the mean of 65,536 / 3,600 = 18.2";
}

// The same of flows at random, where chance adds to the unevenness. Each pair of links gets its share of them,
// independently but for their sum, so the fullest has at most m with the product over all pairs of Poisson's
// distribution up to m. The figure of 3.42 is that of 40,000 flows, 11.1 a link: the median of the fullest is 38.
TEST(Polarization, OfSonicsLeafOverAToRFillsALinkThreePointFourTimesWithFortyThousandFlows) {
  constexpr double kFlows = 40'000;
  const std::vector<uint32_t> shares = pairs_of_sonics(10);
  const auto at_most = [&shares](uint32_t most) {
    double log = 0;
    for (const uint32_t share : shares) {
      const double mean = share * kFlows / 65'536;
      double term = std::exp(-mean);
      double sum = term;
      for (uint32_t k = 1; k <= most; ++k) sum += term *= mean / k;
      log += std::log(sum);
    }
    return std::exp(log);
  };
  EXPECT_LT(at_most(37), 0.5);
  EXPECT_GT(at_most(38), 0.5);
  EXPECT_NEAR(38 * static_cast<double>(shares.size()) / kFlows, 3.42, 1e-9);

  const EcmpHash tor{{.model = HashModel::kRtag7}};
  const EcmpHash leaf{{.model = HashModel::kRtag7, .seed = 10, .offset = 10}};
  std::vector<uint32_t> counts(shares.size());
  for (const HashKey& key : random_keys(static_cast<uint32_t>(kFlows)))
    ++counts[tor.of(key) % kLinks * kLinks + leaf.of(key) % kLinks];
  for (size_t pair = 0; pair < shares.size(); ++pair) EXPECT_LE(counts[pair] > 0, shares[pair] > 0);
  const uint32_t fullest = std::ranges::max(counts);
  EXPECT_GT(at_most(fullest), 1e-6);
  EXPECT_LT(at_most(fullest - 1), 1 - 1e-6) << fullest;
}

// XOR lays the fields' 16-bit words on each other, so what lies at an odd byte would fill the upper half only.
HashConfig xor_of(std::vector<HashField> fields) {
  HashConfig config{.algorithm = HashAlgorithm::kXor};
  config.fields = std::move(fields);
  return config;
}
uint32_t xor_of(const HashConfig& config, uint8_t protocol, uint32_t qp) {
  std::vector<uint8_t> frame(80);
  frame[23] = protocol;
  store16(frame.data() + 36, udp::kRoceV2Port);
  store24(frame.data() + 47, qp);
  HashKey key;
  const EcmpHash hash{config};
  hash.build({.frame = frame.data(),
              .stored_bytes = 80,
              .frame_bytes = 80,
              .l3_offset = 14,
              .l4_offset = 34,
              .in_port = 0,
              .vlan = 0,
              .ether_type = ethernet::kTypeIpv4,
              .flags = kIsIpv4 | kIsUdp | kIsRoce,
              .ip_protocol = protocol},
             key);
  return hash.of(key);
}

TEST(Xor, IsMovedByTheProtocolInItsLowerBits) {
  const HashConfig config = xor_of(HashConfig{}.fields);
  EXPECT_EQ((xor_of(config, 17, 0) ^ xor_of(config, 6, 0)) & 0xff, 17u ^ 6u);
}

TEST(Xor, SpreadsTheDestinationQpsOverAllLinksWhateverFieldsAreBeforeThem) {
  using enum HashField;
  for (const auto& fields : {std::vector{kSrcIp, kDstIp}, std::vector{kSrcIp, kDstIp, kIpProtocol}, {kIpProtocol}}) {
    HashConfig config = xor_of(fields);
    config.udfs = {destination_qp_udf()};
    std::vector<uint32_t> counts(64);
    for (uint32_t qp = 0; qp < 1'024; ++qp) ++counts[xor_of(config, 17, qp) % 64];
    EXPECT_EQ(std::ranges::count(counts, 16u), 64) << fields.size() << " fields";
  }
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
