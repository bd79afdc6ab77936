// SPDX-License-Identifier: Apache-2.0
// A summary of a run, for a person: made from its report alone, so that whoever has the JSON has all of it.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string summary_text(const control::Json& report);

}  // namespace softspine::tools
