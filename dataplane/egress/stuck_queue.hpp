// SPDX-License-Identifier: Apache-2.0
// A queue that is paused while something waits in it: what the search for deadlocks is told of a switch.
#pragma once

#include <cstdint>

#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

struct StuckQueue {
  PortNo port;
  Priority priority;
  uint64_t sent_packets = 0;  // so far: the same twice, and it has not moved
};

}  // namespace softspine::dataplane
