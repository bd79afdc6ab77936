// SPDX-License-Identifier: Apache-2.0
// Which hosts a workload has send to which, for the links that its packets may take (control/routing/ways.hpp).
#pragma once

#include "control/model/workload.hpp"
#include "control/routing/ways.hpp"

namespace softspine::control {

// Of its data alone.
Demands data_demands_of(const Workload& workload);
// Acknowledgements of reliable connections go back the same ways.
Demands demands_of(const Workload& workload);

}  // namespace softspine::control
