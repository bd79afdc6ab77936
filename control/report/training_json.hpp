// SPDX-License-Identifier: Apache-2.0
// Trainings in the report, and as `softspine show training` has them.
#pragma once

#include <string>
#include <vector>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// By training, by step.
Json trainings_json(const FabricSnapshot& snapshot);
std::string trainings_table(const FabricSnapshot& snapshot);
std::vector<ReportField> training_fields();

}  // namespace softspine::control
