// SPDX-License-Identifier: Apache-2.0
// The parameters of Swift: swift.hpp has their meanings, keys and limits.
#pragma once

#include <cstdint>

#include "dataplane/units/fraction.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct SwiftParameters {
  Duration base_target = Duration::us(20);
  Duration hop_scale = Duration::us(3);
  Duration fs_range = Duration::us(100);
  Fraction fs_min_cwnd{1, 10};
  uint32_t fs_max_cwnd = 100;
  Fraction ai{1, 1};
  Fraction beta{4, 5};
  Fraction max_mdf{1, 2};
  Fraction min_cwnd{1, 100};
  uint32_t max_cwnd = 1000;
  uint32_t initial_cwnd = 12;
  uint32_t retx_reset_threshold = 5;

  friend bool operator==(const SwiftParameters&, const SwiftParameters&) = default;
};

}  // namespace softspine::dataplane
