// SPDX-License-Identifier: Apache-2.0
// LAGs for a snapshot: which members are there, and what went by each.
#pragma once

#include <vector>

#include "control/model/fabric.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::testbeds {

// `members`: by link, whether it is a member of its LAG now. `out` has its switches already.
void copy_lags(const control::Fabric& fabric, const std::vector<bool>& members, control::FabricSnapshot& out);

}  // namespace softspine::testbeds
