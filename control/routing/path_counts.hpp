// SPDX-License-Identifier: Apache-2.0
// How many shortest paths lead to a host from the ToRs of all others, counted link by link in the routes: what a load
// balancer has to choose from, the path-selection search space of HPN's Table 1.
//
// Paths begin at a ToR, since a host with two ports has the same number of them from either of its ToRs. They end at
// the host's subnet, so a path over each switch that the host is attached to is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

// The ToRs from which there are as many paths, of the same length.
struct PathCount {
  uint32_t switches = 0;  // on the way, both ToRs among them
  uint64_t paths = 0;     // UINT64_MAX: that many or more
  uint32_t tors = 0;
};

struct PathCounts {
  uint32_t to = 0;                // a host
  std::vector<PathCount> from;    // longest ways first, then most paths
  uint32_t tors_without_way = 0;  // as in the other plane, or behind another rail
};

// To the first host of the fabric; none if no switch has hosts.
std::optional<PathCounts> count_paths(const Fabric& fabric);

}  // namespace softspine::control
