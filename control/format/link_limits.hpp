// SPDX-License-Identifier: Apache-2.0
// What a link may be, whoever describes it: a testbed file, or the file of another system.
#pragma once

#include <cstdint>

#include "control/format/quantity.hpp"

namespace softspine::control {

// Fast enough for the engine's fixed point, slow enough that a byte lasts some picoseconds.
inline constexpr dataplane::Rate kLeastLinkRate = dataplane::Rate::min();
inline constexpr dataplane::Rate kMostLinkRate = dataplane::Rate::gbps(1'600);
// To the moon; the sum of a few still fits an Instant.
inline constexpr Length kLeastLinkLength{1'000};
inline constexpr Length kMostLinkLength = Length::metres(400'000'000);
inline constexpr uint32_t kLeastLinkMtu = 1'280;  // IPv6 needs it
inline constexpr uint32_t kMostLinkMtu = 9'216;

}  // namespace softspine::control
