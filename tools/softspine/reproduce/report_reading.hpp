// SPDX-License-Identifier: Apache-2.0
// Numbers out of a run's report; kNoNumber where it has none.
#pragma once

#include <initializer_list>
#include <string_view>

#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

double number_of(const control::Json& report, std::initializer_list<std::string_view> keys);
// Of the `index`th size of a collective: GB/s of 10^9 bytes, as nccl-tests has it.
double bus_bandwidth_of(const control::Json& report, std::string_view collective, size_t index);
// The sum of a number over all rows of a section whose names begin so.
double sum_over(const control::Json& report, std::string_view section, std::string_view begin, std::string_view key);

}  // namespace softspine::tools
