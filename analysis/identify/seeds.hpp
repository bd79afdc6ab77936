// SPDX-License-Identifier: Apache-2.0
// From what a seed adds to a linear hash back to a seed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/identify/sample.hpp"
#include "dataplane/hashing/hash_config.hpp"

namespace softspine::analysis {

// The constants that the seeds of a configuration add to its hashes, as seen by one flow: all keys of one length get
// the same.
class SeedEffects {
 public:
  SeedEffects(const dataplane::HashConfig& config, const FlowFrame& flow);
  // The smallest seed that adds `constant`, as far as the bits of `mask` are concerned.
  std::optional<uint32_t> seed_for(uint32_t constant, uint32_t mask) const;

 private:
  std::vector<uint32_t> of_bit_;  // what each bit of the seed adds
};

// Seeds of hashes that are not linear, to be tried: those that people write down, and 0 to 65,535.
std::vector<uint32_t> likely_seeds();

}  // namespace softspine::analysis
