// SPDX-License-Identifier: Apache-2.0
// The contents of lists and open maps of a report's outline (testbeds/run/report_outline.hpp): one model entry
// in each, with the fields that docs/reference has for it. So a path into them can be checked before a run.
#pragma once

#include <vector>

#include "control/report/report_fields.hpp"

namespace softspine::control {

// Adds to each empty list, and to each map with the key "*", the fields whose paths lead there. Fields that the outline
// has already stay as they are. A field whose path leads nowhere in it does not concern this testbed.
void add_models(Json& outline, const std::vector<ReportField>& fields);

}  // namespace softspine::control
