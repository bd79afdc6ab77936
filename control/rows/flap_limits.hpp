// SPDX-License-Identifier: Apache-2.0
// How often links may flap, and how slowly: 10,000 × 600 s = 6 × 10^18 ps still fits a Duration (63 bits).
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::control {

inline constexpr uint32_t kMaxFlaps = 10'000;
inline constexpr dataplane::Duration kMaxFlapPeriod = dataplane::Duration::s(600);

}  // namespace softspine::control
