// SPDX-License-Identifier: Apache-2.0
// How many times as long as alone the flows of a list took, by their size: all, and in classes.
#pragma once

#include <vector>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/workload_totals.hpp"

namespace softspine::control {

Json slowdown_json(const WorkloadTotals& totals);
std::vector<ReportField> slowdown_fields();

}  // namespace softspine::control
