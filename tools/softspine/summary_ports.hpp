// SPDX-License-Identifier: Apache-2.0
// A run's pauses by port and priority, as a table for a person; empty if no PFC frame was sent or received.
#pragma once

#include <string>

#include "control/telemetry/json.hpp"

namespace softspine::tools {

// `report`: control::report_json's.
std::string paused_ports_text(const control::Json& report);

}  // namespace softspine::tools
