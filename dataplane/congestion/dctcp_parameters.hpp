// SPDX-License-Identifier: Apache-2.0
// The parameters of DCTCP: dctcp.hpp has their meanings, keys and limits.
#pragma once

#include "dataplane/units/fraction.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct DctcpParameters {
  Fraction g{1, 16};
  Duration rtt = Duration::us(13);
  Rate ai_rate = Rate::mbps(615);
  Rate min_rate = Rate::mbps(100);

  friend bool operator==(const DctcpParameters&, const DctcpParameters&) = default;
};

}  // namespace softspine::dataplane
