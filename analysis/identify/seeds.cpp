// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/seeds.hpp"

#include "dataplane/hashing/ecmp_hash.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

SeedEffects::SeedEffects(const dp::HashConfig& config, const FlowFrame& flow) {
  const auto hash_with = [&](uint32_t seed) {
    dp::HashConfig seeded = config;
    seeded.seed = seed;
    seeded.offset = 0;
    const dp::EcmpHash hash{seeded};
    dp::HashKey key;
    hash.build(flow.view(), key);
    return hash.raw(key);
  };
  const uint32_t base = hash_with(0);
  for (uint32_t bit = 0; bit < 32; ++bit) of_bit_.push_back(hash_with(1U << bit) ^ base);
}

// Gaussian elimination from the lowest bit of the seed on. A bit that adds no more than lower ones do together stays 0:
// the seed that is found is the smallest.
std::optional<uint32_t> SeedEffects::seed_for(uint32_t constant, uint32_t mask) const {
  struct Row {
    uint32_t adds = 0;
    uint32_t seed = 0;
  };
  std::vector<Row> rows;
  const auto reduced = [&rows](Row row) {
    for (const Row& other : rows) {
      if ((row.adds ^ other.adds) < row.adds) row = {row.adds ^ other.adds, row.seed ^ other.seed};
    }
    return row;
  };
  for (uint32_t bit = 0; bit < 32; ++bit) {
    const Row row = reduced({of_bit_[bit] & mask, 1U << bit});
    if (row.adds != 0) rows.push_back(row);
  }
  const Row left = reduced({constant & mask, 0});
  return left.adds == 0 ? std::optional(left.seed) : std::nullopt;
}

std::vector<uint32_t> likely_seeds() {
  std::vector<uint32_t> out;
  for (uint32_t seed = 0; seed < 65'536; ++seed) out.push_back(seed);
  for (uint32_t bit = 16; bit < 32; ++bit) out.push_back(1U << bit);
  for (const uint32_t seed : {0xffffffffU, 0x7fffffffU, 0xdeadbeefU, 0x12345678U, 0x87654321U, 0xa5a5a5a5U, 0x5a5a5a5aU,
                              0xaaaaaaaaU, 0x55555555U, 0x9e3779b9U, 0xcafebabeU, 0xffff0000U})
    out.push_back(seed);
  return out;
}

}  // namespace softspine::analysis
