// SPDX-License-Identifier: Apache-2.0
// The parameters of TIMELY: timely.hpp has their meanings, keys and limits.
#pragma once

#include <cstdint>

#include "dataplane/units/fraction.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct TimelyParameters {
  Fraction alpha{7, 8};
  Fraction beta{4, 5};
  Rate delta = Rate::mbps(10);
  Duration t_low = Duration::us(50);
  Duration t_high = Duration::us(500);
  Duration min_rtt = Duration::us(20);
  uint32_t hai_after = 5;
  uint32_t hai_steps = 5;
  bool weighted = false;
  Fraction initial_rate{1, 1};
  Rate min_rate = Rate::mbps(10);

  friend bool operator==(const TimelyParameters&, const TimelyParameters&) = default;
};

}  // namespace softspine::dataplane
