// SPDX-License-Identifier: Apache-2.0
// The formats of lists of flows (flow_list.hpp), and how long one may be.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softspine::control {

enum class FlowListFormat : uint8_t { kHpcc, kCsv };

inline constexpr uint64_t kMaxListedFlows = 1'000'000;
inline constexpr size_t kMaxListBytes = size_t{64} << 20;

}  // namespace softspine::control
