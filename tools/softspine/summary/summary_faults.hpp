// SPDX-License-Identifier: Apache-2.0
// What a fault has cost, in the summary of a run.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// Of an entry of `faults` that has a loss window: some lines. Times are from the fault on.
std::string loss_window_text(const control::Json& fault);
// Of `unexplained_losses`; empty if there are none.
std::string unexplained_text(const control::Json& losses);

}  // namespace softspine::tools
