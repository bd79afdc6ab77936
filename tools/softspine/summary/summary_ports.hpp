// SPDX-License-Identifier: Apache-2.0
// A run's ports as tables for a person: pauses by port and priority, empty if no PFC frame was sent or received; bytes
// by port of the NICs that have two.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// `report`: control::report_json's.
std::string paused_ports_text(const control::Json& report);
std::string nic_ports_text(const control::Json& report);

}  // namespace softspine::tools
