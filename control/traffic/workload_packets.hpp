// SPDX-License-Identifier: Apache-2.0
// What a workload's packets are like, before its flows are planned.
#pragma once

#include <cstdint>
#include <vector>

#include "control/model/workload.hpp"

namespace softspine::control {

// Of its data, ascending: one, but for a list whose flows have several.
std::vector<uint8_t> dscps_of(const Workload& workload);
// Bytes of its largest message.
uint64_t largest_message(const Workload& workload);

}  // namespace softspine::control
