// SPDX-License-Identifier: Apache-2.0
// The most that a row may say of a switch's memory.
#pragma once

#include "control/format/quantity.hpp"

namespace softspine::control {

// 2^30 of the smallest cells, which a pool may have (BufferPlan::kUnlimitedCells); no switch has as much.
inline constexpr Bytes kMaxMemory{uint64_t{32} << 30};

}  // namespace softspine::control
