// SPDX-License-Identifier: Apache-2.0
// A reference of every counter of the tables (counter.hpp): what has it, its unit, what it means, its path in the
// report, its names for SAI and Prometheus. docs/reference is made from it.
#pragma once

#include "control/telemetry/json_fwd.hpp"

namespace softspine::control {

Json counters_reference();

}  // namespace softspine::control
