// SPDX-License-Identifier: Apache-2.0
// Trainings in the summary of a run: what a step took, and its parts; empty if there are none.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string training_text(const control::Json& report);

}  // namespace softspine::tools
