// SPDX-License-Identifier: Apache-2.0
// Traces in the report, and as `softspine show traces` has them.
#pragma once

#include <string>
#include <vector>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

Json traces_json(const FabricSnapshot& snapshot);
std::string traces_table(const FabricSnapshot& snapshot);
std::vector<ReportField> trace_fields();

}  // namespace softspine::control
