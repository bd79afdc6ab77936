// SPDX-License-Identifier: Apache-2.0
// The parameters of HPCC: hpcc.hpp has their meanings, keys and limits.
#pragma once

#include <cstdint>

#include "dataplane/units/fraction.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct HpccParameters {
  Duration rtt = Duration::us(13);
  Fraction eta{19, 20};
  uint32_t max_stage = 5;
  Rate ai_rate = Rate::mbps(40);
  Rate min_rate = Rate::mbps(100);
  bool multi_rate = false;
  bool fast_react = true;

  friend bool operator==(const HpccParameters&, const HpccParameters&) = default;
};

}  // namespace softspine::dataplane
