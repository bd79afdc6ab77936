// SPDX-License-Identifier: Apache-2.0
// The part of a run's summary about events, which is empty without them: losses with their place, pauses, marks, CNPs,
// retransmissions, storms, faults, deadlocks.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// "Dropped: 0 packets" alone where nothing was lost; else the reasons and the places with the most.
std::string losses_text(const control::Json& report);
// Empty if there were no events.
std::string events_text(const control::Json& report);

}  // namespace softspine::tools
