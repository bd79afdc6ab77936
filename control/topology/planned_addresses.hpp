// SPDX-License-Identifier: Apache-2.0
// The address ranges that a fabric's addresses are planned from (address_plan.hpp).
#pragma once

#include <cstdint>

#include "control/model/fabric.hpp"

namespace softspine::control {

inline constexpr uint32_t kFirstPlanned = 0x0A000100;  // 10.0.1.0: the hosts' subnets, up to the loopbacks
inline constexpr uint32_t kLoopbacks = 0x0AFF0000;     // 10.255.0.0/16: the switches'
inline constexpr uint16_t kLoopbackArea = 0xFFFF;      // of planned_ipv6(); hosts' subnets are in area 0

// fd00:AAAA:GGGG:GGGG::N
Ipv6Address planned_ipv6(uint16_t area, uint32_t group, uint32_t number);
// The number-th address of the prefix.
Ipv6Address ipv6_in(const Ipv6Prefix& prefix, uint32_t number);

}  // namespace softspine::control
