// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/checksum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {
namespace {

// The example of RFC 1071, section 3, and a header with a known checksum.
constexpr std::array<uint8_t, 8> kRfc1071{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
constexpr std::array<uint8_t, 20> kHeader{0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                                          0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};

uint16_t slow_sum(const std::vector<uint8_t>& bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    sum += uint32_t{bytes[i]} << 8 | (i + 1 < bytes.size() ? bytes[i + 1] : 0u);
    if (sum > 0xffff) sum -= 0xffff;
  }
  return static_cast<uint16_t>(sum);
}

std::array<uint8_t, 20> random_header(Rng& rng) {
  std::array<uint8_t, 20> header;
  for (uint8_t& byte : header) byte = static_cast<uint8_t>(rng.next());
  store16(header.data() + ipv4::kChecksum, 0);
  store16(header.data() + ipv4::kChecksum, ipv4_checksum(header.data(), 20));
  return header;
}

TEST(Checksum, GivesTheSumOfRfc1071) {
  EXPECT_EQ(ChecksumSum{}.add(kRfc1071.data(), 8).folded(), 0xddf2);
}

TEST(Checksum, GivesAKnownHeadersChecksum) {
  auto header = kHeader;
  EXPECT_TRUE(has_good_ipv4_checksum(header.data(), 20));
  store16(header.data() + ipv4::kChecksum, 0);
  EXPECT_EQ(ipv4_checksum(header.data(), 20), 0xb861);
}

TEST(Checksum, EqualsAWordByWordSumAtEveryLength) {
  Rng rng{1, 0};
  for (uint32_t bytes = 0; bytes < 300; ++bytes) {
    std::vector<uint8_t> data(bytes);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(rng.next() | (bytes % 3 == 0 ? 0xff : 0));
    EXPECT_EQ(ChecksumSum{}.add(data.data(), bytes).folded() % 0xffff, slow_sum(data) % 0xffff) << bytes;
  }
}

TEST(Checksum, NoticesEveryFlippedBit) {
  for (size_t bit = 0; bit < kHeader.size() * 8; ++bit) {
    auto header = kHeader;
    header[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(has_good_ipv4_checksum(header.data(), 20)) << bit;
  }
}

TEST(Checksum, DecrementedTtlKeepsTheChecksumGood) {
  Rng rng{2, 0};
  for (int i = 0; i < 10'000; ++i) {
    auto header = random_header(rng);
    const auto ttl = static_cast<uint8_t>(1 + rng.below(255));
    header[ipv4::kTtl] = ttl;
    store16(header.data() + ipv4::kChecksum, 0);
    store16(header.data() + ipv4::kChecksum, ipv4_checksum(header.data(), 20));
    decrement_ttl(header.data());
    ASSERT_EQ(header[ipv4::kTtl], ttl - 1);
    ASSERT_TRUE(has_good_ipv4_checksum(header.data(), 20)) << i;
  }
}

TEST(Checksum, ReplacedTosKeepsTheChecksumGood) {
  Rng rng{3, 0};
  for (int i = 0; i < 10'000; ++i) {
    auto header = random_header(rng);
    const uint8_t version = header[0];
    const auto tos = static_cast<uint8_t>(rng.next());
    replace_tos(header.data(), tos);
    ASSERT_EQ(header[0], version);
    ASSERT_EQ(header[ipv4::kTos], tos);
    ASSERT_TRUE(has_good_ipv4_checksum(header.data(), 20)) << i;
  }
}

TEST(Checksum, UpdatesAsRfc1624Says) {
  // RFC 1624, section 4: a sum that the older method turns into the wrong zero.
  EXPECT_EQ(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
}

}  // namespace
}  // namespace softspine::dataplane
