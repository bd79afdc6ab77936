// SPDX-License-Identifier: Apache-2.0
// Facts that a run's user may want to know although they are no errors: tables that were too small for what they had to
// learn, what WRED dropped early from queues that are paused, and what the outside of an edge counts as wrong (a
// driver's errors, guests that broke vhost-user's framing). One sentence for each, in the order of the nodes.
#pragma once

#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::vector<std::string> notices_of(const FabricSnapshot& snapshot);

}  // namespace softspine::control
