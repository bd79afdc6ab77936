// SPDX-License-Identifier: Apache-2.0
// Stacks in the report, and as `softspine show stacks` has them.
#pragma once

#include <string>
#include <vector>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// The stacks, by stack and by switch.
Json stacks_json(const FabricSnapshot& snapshot);
std::string stacks_table(const FabricSnapshot& snapshot);
std::vector<ReportField> stack_fields();

}  // namespace softspine::control
