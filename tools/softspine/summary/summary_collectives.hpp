// SPDX-License-Identifier: Apache-2.0
// Collectives in the summary of a run: time and bandwidths of each size; empty if there are none.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string collectives_text(const control::Json& report);

}  // namespace softspine::tools
