// SPDX-License-Identifier: Apache-2.0
// How changes are noticed, and how routes follow, drawn for a testbed.
#pragma once

#include <string>

#include "dataplane/units/rng.hpp"

namespace softspine::tests {

// Detection, and convergence of at most 300 us, or so much for each hop.
inline std::string draw_following(dataplane::Rng& rng) {
  std::string out;
  switch (rng.below(4)) {
    case 0: break;
    case 1: out = "detection: {loss_of_signal: 10us}\n"; break;
    case 2: out = "detection: {bfd: {interval: 50us}}\n"; break;
    default: out = "detection: {loss_of_signal: 20us, bfd: {interval: 30us, multiplier: 5}}\n"; break;
  }
  const uint64_t time = rng.below(300);
  return out + (rng.below(2) == 0 ? "convergence: " : "convergence_per_hop: ") + std::to_string(time) + "us\n";
}

}  // namespace softspine::tests
