// SPDX-License-Identifier: Apache-2.0
// The cost of a fault, in the summary of a run.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// Some lines for an entry of `faults` that has a loss window. Times are from the fault on.
std::string loss_window_text(const control::Json& fault);
// The text for `unexplained_losses`; empty if there are none.
std::string unexplained_text(const control::Json& losses);

}  // namespace softspine::tools
