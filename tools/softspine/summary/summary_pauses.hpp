// SPDX-License-Identifier: Apache-2.0
// Flow control and congestion control in the summary of a run: how much of each there was, and where most of it.
// Both are empty if there was none.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// PFC, PAUSE, credit, the PFC watchdog.
std::string pauses_text(const control::Json& report);
// ECN marks, DCQCN.
std::string congestion_text(const control::Json& report);

}  // namespace softspine::tools
