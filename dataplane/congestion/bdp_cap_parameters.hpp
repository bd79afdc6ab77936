// SPDX-License-Identifier: Apache-2.0
// The parameter of BDP-FC: bdp_cap.hpp has its meaning, key and limits.
#pragma once

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct BdpCapParameters {
  Duration rtt = Duration::us(24);

  friend bool operator==(const BdpCapParameters&, const BdpCapParameters&) = default;
};

}  // namespace softspine::dataplane
