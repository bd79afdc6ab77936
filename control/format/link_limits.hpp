// SPDX-License-Identifier: Apache-2.0
// The limits of a link, whatever describes it: a testbed file, or the file of another system.
#pragma once

#include <cstdint>

#include "control/format/quantity.hpp"
#include "dataplane/units/top_rate.hpp"

namespace softspine::control {

// The lowest rate is one that the engine's fixed point can hold.
inline constexpr dataplane::Rate kLeastLinkRate = dataplane::Rate::min();
inline constexpr dataplane::Rate kMaxLinkRate = dataplane::kTopRate;
// At most 400,000 km, 2.02 s one way: the sum of a few such delays still fits an Instant.
inline constexpr Length kLeastLinkLength{1'000};
inline constexpr Length kMaxLinkLength = Length::metres(400'000'000);
inline constexpr uint32_t kLeastLinkMtu = 1'280;  // IPv6 needs it
inline constexpr uint32_t kMaxLinkMtu = 9'216;

}  // namespace softspine::control
