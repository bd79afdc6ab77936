// SPDX-License-Identifier: Apache-2.0
// A picture of a run's faults: a row for each that began, over one time line. A row has
//
//   grey band    as long as the fault lasted
//   red bars     packets lost by it over time
//   marks        D first switch knows · R routes have followed · M all flows move again · A all as before
// and in words what it lost. Further rows than kRows are counted below.
#pragma once

#include <string>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::string fault_timeline(const FabricSnapshot& snapshot, const std::string& testbed);

}  // namespace softspine::control
