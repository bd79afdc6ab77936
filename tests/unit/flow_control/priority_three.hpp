// SPDX-License-Identifier: Apache-2.0
// What the tests here pause: priority 3 of a link of 100G, from a microsecond on.
#pragma once

#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::tests {

inline constexpr dataplane::Priority kThree{3};
inline constexpr dataplane::Duration kQuantum = dataplane::Duration::ps(5'120);  // 512 bits
inline constexpr dataplane::Instant kStart = dataplane::Instant::at(dataplane::Duration::us(1));

}  // namespace softspine::tests
