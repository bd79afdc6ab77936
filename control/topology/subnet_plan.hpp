// SPDX-License-Identifier: Apache-2.0
// Which hosts share a subnet, and which prefix it has. See address_plan.hpp.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

void plan_subnets(Reader& reader, Expanded& out);

// fd00:AAAA:GGGG:GGGG::N
Ipv6Address planned_ipv6(uint16_t area, uint32_t group, uint32_t number);
// The number-th address of the prefix.
Ipv6Address ipv6_in(const Ipv6Prefix& prefix, uint32_t number);

}  // namespace softspine::control
