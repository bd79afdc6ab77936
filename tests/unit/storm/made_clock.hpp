// SPDX-License-Identifier: Apache-2.0
// A clock whose skew and drift are known.
#pragma once

#include <cmath>
#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::tests {

inline constexpr int64_t kUs = 1'000'000;
inline constexpr int64_t kS = 1'000'000'000'000;

// Shows `skew` more than the true time, and gains `drift`.
struct MadeClock {
  int64_t skew_ps = 0;
  double drift = 0;
  dataplane::Instant shown(int64_t true_ps) const {
    return dataplane::Instant::at_ps(true_ps + skew_ps + std::llround(drift * static_cast<double>(true_ps)));
  }
};

}  // namespace softspine::tests
