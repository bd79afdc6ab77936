// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of a run's summary: numbers, times, amounts, and which drops are losses.
#pragma once

#include <cstdint>
#include <string>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

// `reason`: its name in a report. Packets addressed to where they ended are no loss (consumed, pfc_consumed,
// credit_consumed).
bool is_loss(const std::string& reason);

// 12345678 → "12.3 M"; 1024 → "1.02 k"
std::string short_number(double value, const char* unit = "");
// Picoseconds as the nearest unit: "17.3 us"; null: "–".
std::string short_time(const control::Json& picoseconds);

// 0 if it is null.
double number(const control::Json& value);
// "1 packet", "3 packets"
std::string counted(uint64_t number, const char* one);

}  // namespace softspine::tools
