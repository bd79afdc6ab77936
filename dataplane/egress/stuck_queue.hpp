// SPDX-License-Identifier: Apache-2.0
// What a switch has waiting behind pauses or missing credit: where a deadlock would have to be. Between windows.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

class Egress;

struct StuckQueue {
  PortNo port;
  Priority priority;
  uint64_t sent_packets = 0;  // so far: the same twice, and it has not moved
};

std::vector<StuckQueue> stuck_queues(const Egress& egress);
// The ports that what waits for a priority has come in by, ascending, without what the switch made itself. Looks at
// every packet that waits there.
std::vector<PortNo> sources_of(const Egress& egress, PortNo port, Priority priority);

}  // namespace softspine::dataplane
