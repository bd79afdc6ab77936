// SPDX-License-Identifier: Apache-2.0
// Slowdowns of flows of lists in the summary of a run, by size; empty if there are none.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string slowdowns_text(const control::Json& report);

}  // namespace softspine::tools
