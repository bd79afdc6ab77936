// SPDX-License-Identifier: Apache-2.0
// Each row of kHashAlgorithms says what its function does: width, linear or not, key or none.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/slow_hash.hpp"

namespace softspine::dataplane {
namespace {

constexpr HashModel kModels[] = {HashModel::kSai, HashModel::kRtag7, HashModel::kLinux, HashModel::kOvs};
constexpr int kKeys = 200;

std::vector<HashKey> keys_of_stream(uint64_t stream) {
  Rng rng{tests::seed(), stream};
  std::vector<HashKey> keys(kKeys);
  for (HashKey& key : keys) {
    key.count = 3;
    for (uint32_t i = 0; i < key.count; ++i) key.words[i] = rng.next();
  }
  return keys;
}

template <typename Judge>
void for_each_hash(Judge judge) {
  for (const HashAlgorithmRow& row : kHashAlgorithms) {
    for (const HashModel model : kModels) {
      SCOPED_TRACE(std::string(row.word) + (model == HashModel::kSai     ? " of SAI"
                                            : model == HashModel::kRtag7 ? " of RTAG7"
                                            : model == HashModel::kLinux ? " of Linux"
                                                                         : " of OVS"));
      if (row.is_in(model)) judge(row, HashConfig{.model = model, .algorithm = row.algorithm});
    }
  }
}

// sai_hash_algorithm_t, saihash.h.
TEST(HashTable, HasSaisAlgorithmsByTheirNamesAndNumbers) {
  constexpr std::string_view kSai[] = {"CRC", "XOR", "RANDOM", "CRC_32LO", "CRC_32HI", "CRC_CCITT", "CRC_XOR"};
  ASSERT_GE(kHashAlgorithms.size(), std::size(kSai));
  for (size_t i = 0; i < std::size(kSai); ++i) EXPECT_EQ(kHashAlgorithms[i].word, kSai[i]);
}

TEST(HashTable, GivesEachModelTheAlgorithmsAndWidthsThatTheTwinKnows) {
  for (const HashAlgorithmRow& row : kHashAlgorithms) {
    for (const HashModel model : kModels)
      EXPECT_EQ(row.bits_in(model), tests::slow_bits(model, row.algorithm)) << row.word;
  }
}

TEST(HashTable, SaysHowManyBitsAResultHas) {
  for_each_hash([](const HashAlgorithmRow& row, const HashConfig& config) {
    const EcmpHash hash{config};
    EXPECT_EQ(hash.width_bits(), row.bits_in(config.model));
    uint64_t seen = 0;
    for (const HashKey& key : keys_of_stream(41)) seen |= hash.of(key);
    EXPECT_EQ(seen, row.is_drawn ? 0 : tests::slow_mask(config.model, row.algorithm));
  });
}

TEST(HashTable, SaysWhatAnotherSeedDoesToAHash) {
  for_each_hash([](const HashAlgorithmRow& row, HashConfig config) {
    const EcmpHash first{config};
    config.seed = 0x12345678;
    const EcmpHash second{config};
    const std::vector<HashKey> keys = keys_of_stream(42);
    const uint32_t difference = first.of(keys[0]) ^ second.of(keys[0]);
    int alike = 0;
    for (const HashKey& key : keys) alike += (first.of(key) ^ second.of(key)) == difference;
    EXPECT_EQ(alike == kKeys, row.seed != SeedEffect::kMixing) << alike << " of " << kKeys;
    EXPECT_EQ(difference == 0, row.seed == SeedEffect::kNone);
  });
}

TEST(HashTable, SaysWhichAlgorithmsTakeAKey) {
  for_each_hash([](const HashAlgorithmRow& row, HashConfig config) {
    const EcmpHash own{config};
    config.key = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const EcmpHash keyed{config};
    int changed = 0;
    for (const HashKey& key : keys_of_stream(43)) changed += own.of(key) != keyed.of(key);
    EXPECT_EQ(changed > 0, row.takes_key) << changed << " of " << kKeys;
  });
}

}  // namespace
}  // namespace softspine::dataplane
