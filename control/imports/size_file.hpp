// SPDX-License-Identifier: Apache-2.0
// A distribution of flow sizes in a file, as HPCC's traffic generator reads it: lines of BYTES PERCENT, both ascending,
// from 0 % to 100 %.
#pragma once

#include <optional>
#include <string_view>

#include "control/imports/field_lines.hpp"
#include "control/traffic/size_distribution.hpp"

namespace softspine::control {

inline constexpr size_t kMaxSizePoints = 100'000;

// Nothing if something is wrong, which `errors` then has.
std::optional<SizeDistribution> read_size_file(std::string_view text, ErrorsByKind& errors);

}  // namespace softspine::control
