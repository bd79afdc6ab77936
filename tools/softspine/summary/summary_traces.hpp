// SPDX-License-Identifier: Apache-2.0
// Traces in the summary of a run: how far, and who waits for whom; empty if there are none.
#pragma once

#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

std::string traces_text(const control::Json& report);
// The first ranks that have not ended, and what they wait for; nothing if there are none.
std::string waiting_text(const std::string& name, const control::Json& waiting, const control::Json& ranks);

}  // namespace softspine::tools
