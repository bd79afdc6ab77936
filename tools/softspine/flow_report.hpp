// SPDX-License-Identifier: Apache-2.0
// What a file of SimAI's recorded flows holds (control/traces/simai_flows.hpp), for people and for programs.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"
#include "control/traces/simai_flows.hpp"

namespace softspine::tools {

std::string flows_text(const control::SimaiFlows& flows);
control::Json flows_json(const control::SimaiFlows& flows);

}  // namespace softspine::tools
