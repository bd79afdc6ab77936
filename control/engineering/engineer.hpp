// SPDX-License-Identifier: Apache-2.0
// The controller's plan: from what hosts have sent in the last interval, and the routes as they are, to overrides at
// ToRs. Pure.
//
// A demand is the traffic that one port of a ToR takes in for one host: the finest unit that an exact match can move.
// Its paths are the next hops of the ToR's route to the host; beyond them the routes decide, and several next hops are
// taken to share evenly. Demands that are not placed (a ToR without the controller, one way only) load links like ECMP.
// Links of hosts are not judged: no path avoids them. A LAG is one link with the rate of its members: its own hash, not
// the plan, chooses the member.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/routing/routes.hpp"

namespace softspine::control {

// Sent into a port of a ToR, to a host, in the last interval.
struct FlowDemand {
  LinkEnd at;
  uint32_t to = 0;
  double bps = 0;  // on the wire
};

struct EngineeringPlan {
  std::map<uint32_t, std::vector<Override>>
      overrides;         // by each of the controller's ToRs; an entry for both IP versions
  uint32_t demands = 0;  // that had a choice
  uint32_t placed = 0;
  uint32_t moved = 0;  // that had an override, and have another
  double highest = 0;  // load of the most loaded link, of its capacity
};

// `before`: the overrides now, by ToR. `demands`: one for each port and host. `members`: by link, whether it is there
// as a member of its LAG; empty: all are.
EngineeringPlan engineer(const Testbed& testbed, const std::vector<RouteTable>& routes,
                         const std::vector<FlowDemand>& demands,
                         const std::map<uint32_t, std::vector<Override>>& before,
                         const std::vector<bool>& members = {});

}  // namespace softspine::control
