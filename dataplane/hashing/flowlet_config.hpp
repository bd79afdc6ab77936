// SPDX-License-Identifier: Apache-2.0
// A profile's settings of flowlets (flowlet_table.hpp).
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kMaxFlowlets = 1 << 20;

struct FlowletConfig {
  Duration gap = Duration::us(50);
  uint32_t slots = 16'384;  // a power of two
};

}  // namespace softspine::dataplane
