// SPDX-License-Identifier: Apache-2.0
// Limits of the difference of clocks, from the packets that two captures saw, for every two captures: each packet
// limits it from above, from below, or, if it was seen at both ends of one link, from both sides (clock_fit.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/storm/clock_fit.hpp"
#include "analysis/storm/sighting_log.hpp"

namespace softspine::analysis::storm {

// Two captures, the lower number first.
using CapturePair = std::pair<uint32_t, uint32_t>;

// The limits of a pair (a, b) are of b's clock − a's. Pairs without a common packet are left out.
std::map<CapturePair, ClockLimits> limits_of_pairs(const std::vector<const SightingLog*>& captures);

}  // namespace softspine::analysis::storm
