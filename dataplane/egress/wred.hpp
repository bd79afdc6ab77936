// SPDX-License-Identifier: Apache-2.0
// Early marking and dropping by the length of a queue (RED without averaging, as DCQCN wants it).
//
//   probability(q) = 0                                      q ≤ min
//                    max_probability × (q − min) / (max − min)   between
//                    1                                      q ≥ max
// q: bytes in the queue, the frame itself included. Two lines: `mark` turns ECT into CE when the frame leaves
// (802.1Q-2018 does not define it; RFC 3168, DCQCN section 3.1); `drop` refuses a frame that is not
// ECN-capable when it comes, or any frame if `mark` is off. A line that is off does neither.
// Probabilities are 32-bit fractions: 2^32 is certain. The random number comes from the node's generator, and
// only between min and max.
#pragma once

#include <cstdint>

#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {

struct WredLine {
  static constexpr uint64_t kCertain = uint64_t{1} << 32;

  uint32_t min_bytes = UINT32_MAX;  // off
  uint32_t max_bytes = UINT32_MAX;
  uint64_t max_probability = 0;  // of kCertain

  bool off() const { return min_bytes == UINT32_MAX; }
  // The probability in parts of kCertain.
  constexpr uint64_t probability(uint64_t queue_bytes) const {
    if (queue_bytes <= min_bytes) return 0;
    if (queue_bytes >= max_bytes) return kCertain;
    return max_probability * (queue_bytes - min_bytes) / (max_bytes - min_bytes);
  }
  bool hits(uint64_t queue_bytes, Rng& rng) const noexcept {
    if (queue_bytes <= min_bytes) [[likely]]
      return false;
    const uint64_t chance = probability(queue_bytes);
    return chance >= kCertain || rng.below(kCertain) < chance;
  }
};

struct WredPlan {
  WredLine mark;
  WredLine drop;
};

}  // namespace softspine::dataplane
