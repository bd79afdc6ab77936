// SPDX-License-Identifier: Apache-2.0
// How often links may flap, and how slowly: so long that as many flaps still are a time.
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::control {

inline constexpr uint32_t kMaxFlaps = 10'000;
inline constexpr dataplane::Duration kMaxFlapPeriod = dataplane::Duration::s(600);

}  // namespace softspine::control
