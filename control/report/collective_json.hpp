// SPDX-License-Identifier: Apache-2.0
// Collectives in the report, and as `softspine show collectives` has them.
#pragma once

#include <string>
#include <vector>

#include "control/report/report_fields.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// By collective, by size.
Json collectives_json(const FabricSnapshot& snapshot);
std::string collectives_table(const FabricSnapshot& snapshot);
// Each as nccl-tests prints it, for scripts that read that.
std::string nccl_tables(const FabricSnapshot& snapshot);
std::vector<ReportField> collective_fields();

}  // namespace softspine::control
