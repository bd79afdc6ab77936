// SPDX-License-Identifier: Apache-2.0
// Compares replayed captures with the switches' settings: packets of lossless DSCPs that WRED may
// drop all the same, since they are not ECN-capable. The first kReplayedLooked frames of each file are looked at.
#pragma once

#include "control/compile/outside_review.hpp"

namespace softspine::tools {

inline constexpr uint64_t kReplayedLooked = 100'000;

void review_replays(const control::Testbed& testbed, const control::OutsideService& outside, control::Errors& warnings);

}  // namespace softspine::tools
