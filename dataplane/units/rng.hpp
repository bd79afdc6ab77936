// SPDX-License-Identifier: Apache-2.0
// A node's own random numbers, seeded by (seed, node): the same for any number of workers.
// SplitMix64 (Steele, Lea, Flood 2014): one addition and a mix; period 2^64.
#pragma once

#include <cstdint>

#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class Rng {
 public:
  Rng() = default;
  Rng(uint64_t seed, uint64_t stream) : state_(mix(seed + kStep) ^ mix(stream * kStep + 1)) {}

  uint64_t next() { return mix(state_ += kStep); }
  // Uniform in [0, n); n > 0. The bias is below n / 2^64.
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<Uint128>(next()) * n) >> 64); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15;
  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  uint64_t state_ = kStep;
};

}  // namespace softspine::dataplane
