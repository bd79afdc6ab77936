// SPDX-License-Identifier: Apache-2.0
// Queues that wait because they are paused or have no credit: a deadlock can only be among them. Between windows.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

class Egress;

struct StuckQueue {
  PortNo port;
  Priority priority;
  uint64_t sent_packets = 0;  // so far; if a second look finds the same number, nothing was sent
};

std::vector<StuckQueue> stuck_queues(const Egress& egress);
// The ports by which the packets that wait for a priority came in, ascending; packets that the switch made itself are
// left out. Looks at every packet that waits there.
std::vector<PortNo> sources_of(const Egress& egress, PortNo port, Priority priority);

}  // namespace softspine::dataplane
