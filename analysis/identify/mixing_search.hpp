// SPDX-License-Identifier: Apache-2.0
// Seeds of hashes that are not linear, by trying them: which seeds and offsets give the two flows of each pair one
// member? All offsets of a seed are judged together, as bits of a mask.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/identify/families.hpp"

namespace softspine::analysis {

struct FoundSeed {
  uint32_t seed = 0;
  uint8_t offset = 0;
};

// There is at least one pair. `from` to `to`: positions in `seeds`; in all 2^32 numbers if `seeds` is empty. All cores
// search; the result is in the order of the seeds.
std::vector<FoundSeed> find_seeds(const Family& family, uint32_t members, std::span<const FlowPair> pairs,
                                  std::span<const uint32_t> seeds, uint64_t from, uint64_t to);

// The member that a seed and an offset choose for each flow.
std::vector<uint32_t> buckets_of(const Family& family, uint32_t members, const FoundSeed& with);

}  // namespace softspine::analysis
