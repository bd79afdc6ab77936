// SPDX-License-Identifier: Apache-2.0
// Where a testbed's buffers trigger (control/compile/thresholds.hpp), for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "control/compile/thresholds.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// A table with its heading; empty if there is nothing to show.
std::string thresholds_text(const std::vector<control::Thresholds>& all);
control::Json thresholds_json(const std::vector<control::Thresholds>& all);

}  // namespace softspine::tools
