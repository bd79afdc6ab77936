// SPDX-License-Identifier: Apache-2.0
// Which hosts share a subnet, and which prefix it has. See address_plan.hpp.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

void plan_subnets(Reader& reader, Expanded& out);

}  // namespace softspine::control
