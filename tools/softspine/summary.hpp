// SPDX-License-Identifier: Apache-2.0
// A summary of a run, for a person: made from its report alone, so that whoever has the JSON has all of it.
#pragma once

#include <string>

#include "control/telemetry/json.hpp"

namespace softspine::tools {

std::string summary_text(const control::Json& report);

// By the reason's name in a report. Packets addressed to where they ended are no loss (consumed, pfc_consumed,
// credit_consumed).
bool is_loss(const std::string& reason);

// 12345678 → "12.3 M"; 1024 → "1.02 k"
std::string short_number(double value, const char* unit = "");
// Picoseconds as the nearest unit: "17.3 us"; null: "–".
std::string short_time(const control::Json& picoseconds);

}  // namespace softspine::tools
