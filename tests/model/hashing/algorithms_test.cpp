// SPDX-License-Identifier: Apache-2.0
// The algorithms against published check values, and against other implementations on a million random keys each,
// of RTAG7 ten thousand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/slow_hash.hpp"

namespace softspine::dataplane {
namespace {

using tests::slow_hash;
using tests::SlowBytes;

const SlowBytes kNineDigits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};

HashKey key_of(const SlowBytes& bytes) {
  HashKey key{};
  std::memcpy(key.words.data(), bytes.data(), bytes.size());
  key.count = static_cast<uint32_t>(bytes.size() / 8);
  return key;
}

SlowBytes random_bytes(Rng& rng, size_t count) {
  SlowBytes bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.next());
  return bytes;
}

TEST(SlowHash, GivesItsCheckValues) {
  EXPECT_EQ(tests::slow_arc(0, kNineDigits), 0xBB3D);
  EXPECT_EQ(tests::slow_reversed(tests::slow_arc(0, kNineDigits)), 0xBCDD);
  EXPECT_EQ(tests::slow_kermit(0, kNineDigits), 0x2189);
  EXPECT_EQ(tests::slow_reversed(tests::slow_kermit(0, kNineDigits)), 0x9184);
  EXPECT_EQ(~tests::slow_castagnoli(0xffffffff, kNineDigits), 0xE3069283);
}

// The first and the sixteenth of the authors' vectors: nothing, and 0 … 14, by the key 0 … 15.
TEST(SlowHash, GivesSipHashsCheckValues) {
  constexpr uint64_t kFirst = 0x0706050403020100;
  constexpr uint64_t kSecond = 0x0f0e0d0c0b0a0908;
  SlowBytes bytes;
  EXPECT_EQ(tests::slow_siphash(kFirst, kSecond, bytes), 0x726fdb47dd0e0e31u);
  for (uint8_t i = 0; i < 15; ++i) bytes.push_back(i);
  EXPECT_EQ(tests::slow_siphash(kFirst, kSecond, bytes), 0xa129ca6149be45e5u);
}

// The vectors in his own file, lookup3.c.
TEST(SlowHash, GivesJenkinssCheckValues) {
  const std::string text = "Four score and seven years ago";
  const SlowBytes bytes(text.begin(), text.end());
  EXPECT_EQ(tests::slow_jenkins(bytes, 0), 0x17770551u);
  EXPECT_EQ(tests::slow_jenkins(bytes, 1), 0xcd628161u);
  EXPECT_EQ(tests::slow_jenkins({}, 0), 0xdeadbeefu);
}

// Nine bytes are no whole word: the same register, byte by byte.
TEST(Crc16, GivesTheCheckValuesOfArcAndKermit) {
  uint16_t arc = 0;
  uint16_t kermit = 0;
  for (const uint8_t byte : kNineDigits) {
    arc = crc16_of_byte(kArcPolynomial, arc, byte);
    kermit = crc16_of_byte(kKermitPolynomial, kermit, byte);
  }
  EXPECT_EQ(arc, 0xBB3D);
  EXPECT_EQ(bits_reversed(arc), 0xBCDD);
  EXPECT_EQ(kermit, 0x2189);
  EXPECT_EQ(bits_reversed(kermit), 0x9184);
  constexpr uint64_t kEightDigits = 0x3837363534333231;
  EXPECT_EQ(crc16_of_byte(kArcPolynomial, crc_of_words(kArc, uint16_t{0}, &kEightDigits, 1), '9'), 0xBB3D);
  EXPECT_EQ(crc16_of_byte(kKermitPolynomial, crc_of_words(kKermit, uint16_t{0}, &kEightDigits, 1), '9'), 0x2189);
}

// RFC 3720 B.4: 32 bytes each, register all ones, result inverted.
TEST(EcmpHash, GivesTheCheckValuesOfRfc3720) {
  const EcmpHash hash{{.seed = 0xffffffff}};
  EXPECT_EQ(~hash.of(key_of(SlowBytes(32, 0x00))), 0x8a9136aau);
  EXPECT_EQ(~hash.of(key_of(SlowBytes(32, 0xff))), 0x62a8ab43u);
  SlowBytes rising(32);
  for (uint8_t i = 0; i < 32; ++i) rising[i] = i;
  EXPECT_EQ(~hash.of(key_of(rising)), 0x46dd794eu);
}

// Microsoft's verification suite: source, destination, source port, destination port; zeros behind add nothing.
TEST(EcmpHash, GivesMicrosoftsToeplitzValues) {
  const EcmpHash hash{{.algorithm = HashAlgorithm::kToeplitz}};
  const auto ipv4 = [&](SlowBytes bytes) {
    bytes.resize(16);
    return hash.of(key_of(bytes));
  };
  EXPECT_EQ(ipv4({66, 9, 149, 187, 161, 142, 100, 80, 2794 >> 8, 2794 & 255, 1766 >> 8, 1766 & 255}), 0x51ccc178u);
  EXPECT_EQ(ipv4({199, 92, 111, 2, 65, 69, 140, 83, 14230 >> 8, 14230 & 255, 4739 >> 8, 4739 & 255}), 0xc626b0eau);
  EXPECT_EQ(ipv4({66, 9, 149, 187, 161, 142, 100, 80}), 0x323e8fc2u);
  // 3ffe:2501:200:1fff::7 → 3ffe:2501:200:3::1, 2794 → 1766
  SlowBytes ipv6{0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0,         0,          0,         0,
                 0,    0,    0,    7,    0x3f, 0xfe, 0x25, 0x01, 0x02,      0x00,       0x00,      0x03,
                 0,    0,    0,    0,    0,    0,    0,    1,    2794 >> 8, 2794 & 255, 1766 >> 8, 1766 & 255};
  ipv6.resize(40);
  EXPECT_EQ(hash.of(key_of(ipv6)), 0x40207d3du);
}

struct Case {
  HashModel model;
  HashAlgorithm algorithm;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const HashAlgorithmRow& row : kHashAlgorithms) {
    for (const HashModel model : {HashModel::kSai, HashModel::kRtag7, HashModel::kLinux, HashModel::kOvs}) {
      if (!row.is_drawn && row.is_in(model)) cases.push_back({model, row.algorithm});
    }
  }
  return cases;
}

class Algorithms : public testing::TestWithParam<Case> {};

// 250 configurations with 4,000 keys each, of RTAG7, whose twin takes a bit at a time, 40; half of the keys have the
// usual 16 bytes.
TEST_P(Algorithms, AgreeWithAnotherImplementationOnRandomKeys) {
  Rng rng{tests::seed(), 21 + static_cast<uint64_t>(GetParam().algorithm)};
  for (int c = 0; c < 250; ++c) {
    HashConfig config{.model = GetParam().model, .algorithm = GetParam().algorithm};
    config.seed = c == 0 ? 0 : static_cast<uint32_t>(rng.next());
    config.offset = static_cast<uint8_t>(rng.below(tests::slow_bits(config.model, config.algorithm)));
    if (config.model == HashModel::kLinux) config.linux_policy = static_cast<uint8_t>(c % 4);
    config.key = random_bytes(rng, 1 + rng.below(80));
    // The layout's length is what the tables of Toeplitz are made for: three addresses' worth and more.
    if (config.model == HashModel::kSai) {
      config.fields = {HashField::kSrcIp, HashField::kDstIp, HashField::kSrcMac, HashField::kDstMac};
      config.udfs.assign(kMaxUdfs,
                         Udf{.length = kMaxUdfBytes, .mask = {}, .l2_type = {}, .l3_protocol = {}, .l4_dst_port = {}});
    }
    const EcmpHash hash{config};
    const uint32_t keys = tests::to_repeat(config.model == HashModel::kSai ? 4'000 : 40);
    for (uint32_t k = 0; k < keys; ++k) {
      const size_t words = k % 2 == 0 ? 2 : 1 + rng.below(KeyLayout{config, true}.words());
      const SlowBytes bytes = random_bytes(rng, 8 * words);
      ASSERT_EQ(hash.of(key_of(bytes)), slow_hash(config, bytes)) << c << ", " << words << " words";
      ASSERT_EQ(hash.raw(key_of(bytes)), tests::slow_raw(config, bytes));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Algorithms, testing::ValuesIn(all_cases()), [](const auto& it) {
  const std::string model = it.param.model == HashModel::kSai     ? "Sai"
                            : it.param.model == HashModel::kRtag7 ? "Rtag7"
                                                                  : "Linux";
  return model + std::to_string(static_cast<int>(it.param.algorithm));
});

}  // namespace
}  // namespace softspine::dataplane
