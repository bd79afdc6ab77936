// SPDX-License-Identifier: Apache-2.0
// EcmpHash against published check values, a CRC of one bit at a time, and the chi-square distribution.
#include "dataplane/forwarding/ecmp_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/forwarding/slow_crc32c.hpp"

namespace softspine::dataplane {
namespace {

using tests::slow_crc32c;

FlowKey key_of(const std::vector<uint8_t>& bytes) {
  FlowKey key{};
  for (size_t i = 0; i < bytes.size() && i < sizeof key.bytes; ++i) key.bytes[i] = bytes[i];
  key.length = static_cast<uint32_t>(bytes.size());
  return key;
}

std::vector<uint8_t> random_bytes(Rng& rng, size_t count) {
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.next());
  return bytes;
}

// The value that a chi-square variable with `freedom` degrees exceeds once in a million (Wilson and Hilferty).
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

TEST(SlowCrc32c, GivesItsCheckValue) {
  EXPECT_EQ(~slow_crc32c({'1', '2', '3', '4', '5', '6', '7', '8', '9'}, 0xffffffff), 0xe3069283u);
}

TEST(EcmpHash, GivesTheCheckValuesOfRfc3720) {
  const EcmpHash hash{{.seed = 0xffffffff}};
  EXPECT_EQ(~hash.of(key_of(std::vector<uint8_t>(32, 0x00))), 0x8a9136aau);
  EXPECT_EQ(~hash.of(key_of(std::vector<uint8_t>(32, 0xff))), 0x62a8ab43u);
  std::vector<uint8_t> rising(32);
  for (uint8_t i = 0; i < 32; ++i) rising[i] = i;
  EXPECT_EQ(~hash.of(key_of(rising)), 0x46dd794eu);
}

TEST(EcmpHash, IsTheCrcOfItsKeyForEverySeedAndOffset) {
  Rng rng{tests::seed(), 11};
  for (int i = 0; i < 5'000; ++i) {
    const std::vector<uint8_t> bytes = random_bytes(rng, 8 * (1 + rng.below(6)));
    const EcmpHashConfig config{.seed = static_cast<uint32_t>(rng.next()), .offset = static_cast<uint8_t>(i % 32)};
    const uint32_t crc = slow_crc32c(bytes, config.seed);
    const uint32_t rotated = config.offset == 0 ? crc : crc >> config.offset | crc << (32 - config.offset);
    ASSERT_EQ(EcmpHash{config}.of(key_of(bytes)), rotated) << i;
  }
}

TEST(EcmpHash, OfTwoWordsIsTheHashOfTheirBytes) {
  Rng rng{tests::seed(), 12};
  for (int i = 0; i < 1'000; ++i) {
    const std::vector<uint8_t> bytes = random_bytes(rng, 16);
    uint64_t first;
    uint64_t second;
    std::memcpy(&first, bytes.data(), 8);
    std::memcpy(&second, bytes.data() + 8, 8);
    const EcmpHash hash{{.seed = static_cast<uint32_t>(rng.next()), .offset = static_cast<uint8_t>(rng.below(32))}};
    ASSERT_EQ(hash.of_words(first, second), hash.of(key_of(bytes)));
  }
}

TEST(EcmpHash, SpreadsRandomFlowsAsEvenlyAsChanceWould) {
  Rng rng{tests::seed(), 13};
  const EcmpHash hash;
  for (uint32_t members = 2; members <= 64; ++members) {
    const uint32_t flows = members * 1'000;
    std::vector<uint32_t> counts(members);
    for (uint32_t i = 0; i < flows; ++i) ++counts[hash.of_words(rng.next(), rng.next()) % members];
    EXPECT_LT(chi_square(counts, flows), one_in_a_million(members - 1)) << members << " members";
  }
}

// Neighbouring addresses and rising ports, as a rack of hosts sends them. A CRC is linear, so this is not chance:
// shares differ from the mean by up to a third where the members are no power of two, and not at all where they are.
TEST(EcmpHash, GivesNeighbouringFlowsSharesWithinAThird) {
  const EcmpHash hash;
  constexpr uint32_t kHosts = 64;
  constexpr uint32_t kPorts = 512;
  for (uint32_t members = 2; members <= 64; ++members) {
    std::vector<uint32_t> counts(members);
    for (uint64_t host = 0; host < kHosts; ++host) {
      for (uint64_t port = 0; port < kPorts; ++port) {
        const uint64_t wire_port = 0xc0 | (port & 0xff) << 8 | port >> 8;
        ++counts[hash.of_words(0x0a010a000000010a | host << 56, 17ULL << 32 | 0xb7120000 | wire_port) % members];
      }
    }
    const double mean = double{kHosts * kPorts} / members;
    const auto [least, most] = std::ranges::minmax(counts);
    EXPECT_GT(least, mean * 2 / 3) << members << " members";
    if (std::has_single_bit(members)) {
      EXPECT_EQ(least, most) << members << " members";
    }
    EXPECT_LT(most, mean * 4 / 3) << members << " members";
  }
}

TEST(EcmpHash, EveryBitOfTheKeyMatters) {
  Rng rng{tests::seed(), 14};
  const EcmpHash hash;
  const std::vector<uint8_t> bytes = random_bytes(rng, 40);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<uint8_t> other = bytes;
    other[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_NE(hash.of(key_of(other)), hash.of(key_of(bytes))) << bit;
  }
}

// A CRC is linear: another seed exchanges buckets, but flows that shared one of 2^n still do. A rotation parts them.
TEST(EcmpHash, ASeedOnlyRenamesBucketsAndARotationPartsThem) {
  Rng rng{tests::seed(), 15};
  constexpr uint32_t kMembers = 8;
  const EcmpHash plain;
  const EcmpHash seeded{{.seed = 10}};
  const EcmpHash rotated{{.offset = 10}};
  std::vector<uint32_t> by_seed(kMembers);
  std::vector<uint32_t> by_offset(kMembers);
  for (int i = 0; i < 32'000; ++i) {
    const uint64_t a = rng.next();
    const uint64_t b = rng.next();
    if (plain.of_words(a, b) % kMembers != 3) continue;
    ++by_seed[seeded.of_words(a, b) % kMembers];
    ++by_offset[rotated.of_words(a, b) % kMembers];
  }
  EXPECT_EQ(std::ranges::count_if(by_seed, [](uint32_t n) { return n != 0; }), 1);
  EXPECT_EQ(std::ranges::count_if(by_offset, [](uint32_t n) { return n != 0; }), kMembers);
}

}  // namespace
}  // namespace softspine::dataplane
