// SPDX-License-Identifier: Apache-2.0
// The most that a row may say of a switch's memory.
#pragma once

#include "control/format/quantity.hpp"

namespace softspine::control {

// 32 GiB: 2^30 cells (BufferPlan::kUnlimitedCells) of 32 bytes, the smallest size; no switch has as much.
inline constexpr Bytes kMaxMemory{uint64_t{32} << 30};

}  // namespace softspine::control
