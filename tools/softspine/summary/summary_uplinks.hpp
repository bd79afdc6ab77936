// SPDX-License-Identifier: Apache-2.0
// How evenly each switch's hash spread the bytes over its uplinks, in the summary of a run.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// The text for a report's `links`; empty if no uplink has carried a byte.
std::string uplinks_text(const control::Json& links);

}  // namespace softspine::tools
