// SPDX-License-Identifier: Apache-2.0
// How long a flow would take if it were alone in the fabric: what its slowdown is a multiple of.
//
//   slowdown = time from its planned start to the arrival of its last bit / there
//   there = Σ propagation + end of the last packet on the last link. On link i it begins when it has left link i−1 and
//           all others have left i: at max j≤i (Σ l≤j first packet on l + rest on j + Σ j<l≤i one full packet on l)
//   back  = Σ propagation + Σ acknowledgement on i: what a time to the last acknowledgement has besides; 0 for an open
//           loop
//
// Packets count with all their headers (but a VLAN's tag) and what Ethernet puts around them
// (dataplane/units/rate.hpp), each link stores and forwards, and switches take no time of their own. The path is a
// shortest one, in links, over links of their full rate; of several the first in the order of the nodes' ports. A flow
// whose messages are posted later has none.
#pragma once

#include <vector>

#include "control/model/fabric.hpp"
#include "control/traffic/plan.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

struct IdealTime {
  dataplane::Duration there;
  dataplane::Duration back;
};

// By flow; zero: without end, posted, or without a path.
std::vector<IdealTime> ideal_times(const control::Fabric& fabric, const std::vector<control::PlannedFlow>& flows);

}  // namespace softspine::testbeds
