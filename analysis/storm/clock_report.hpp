// SPDX-License-Identifier: Apache-2.0
// A report's section on the clocks of several captures: how each differs from the first's, and how surely.
#pragma once

#include "analysis/storm/storm_report.hpp"

namespace softspine::analysis::storm {

std::string clocks_text(const std::vector<ClockFact>& clocks);
control::Json clocks_json(const std::vector<ClockFact>& clocks);

}  // namespace softspine::analysis::storm
