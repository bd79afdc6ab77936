// SPDX-License-Identifier: Apache-2.0
// How well buckets explain links: the names of the members are open, so the best one-to-one assignment counts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/identify/sample.hpp"

namespace softspine::analysis {

inline constexpr uint32_t kUnknownLink = UINT32_MAX;
// The least part of a sample that is right if some observations may be wrong.
inline constexpr double kFewestRight = 0.85;

struct Fit {
  uint32_t agreeing = 0;            // flows whose link is their bucket's
  std::vector<uint32_t> of_bucket;  // the link, or kUnknownLink
};

// True if one-to-one names explain every flow.
bool explains_all(const Sample& sample, std::span<const uint32_t> buckets);
// No assignment explains more flows: of each bucket those of the link that it shares most with. Quick.
uint32_t most_agreeing(const Sample& sample, std::span<const uint32_t> buckets);
// Buckets and links are assigned to each other in the order of how many flows they share.
Fit fit_of(const Sample& sample, std::span<const uint32_t> buckets);

// log2 of a bound on the probability that any of `tried` (as log2) hashes that have nothing to do with the switch
// explains as many flows: binomial, for each of the ways to name the members that were seen. Chance meets a link with
// the probability that two flows of the sample share theirs.
double chance_of(const Sample& sample, uint32_t agreeing, double tried);
// Below this, a fit is no chance: one in a million.
inline constexpr double kNoChance = -20;

}  // namespace softspine::analysis
