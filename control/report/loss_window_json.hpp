// SPDX-License-Identifier: Apache-2.0
// Faults, and what each has cost, as the report has them.
#pragma once

#include <vector>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// Listed for each fault: the flows that lost most, then those that stood still longest.
inline constexpr size_t kFlowsOfAFault = 100;

Json faults_json(const FabricSnapshot& snapshot);
// Losses that no fault explains, by reason.
Json unexplained_json(const FabricSnapshot& snapshot);

// The meanings of both's fields.
std::vector<ReportField> fault_fields();

}  // namespace softspine::control
