// SPDX-License-Identifier: Apache-2.0
// LAGs in a report and in `show lags`.
#pragma once

#include <string>
#include <vector>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// The LAGs, by name.
Json lags_json(const FabricSnapshot& snapshot);
// One row for each member at each end.
std::string lags_table(const FabricSnapshot& snapshot, std::string_view only_switch = {});
std::vector<ReportField> lag_fields();

}  // namespace softspine::control
