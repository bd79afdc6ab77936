// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

// An exact part of one: 5/1024. 0 < part ≤ whole.
struct Fraction {
  uint32_t part = 1;
  uint32_t whole = 1;

  // ⌊ of × this ⌋
  constexpr uint64_t floor_of(uint64_t of) const { return static_cast<uint64_t>(Uint128{of} * part / whole); }
  friend bool operator==(const Fraction&, const Fraction&) = default;
};

}  // namespace softspine::dataplane
