// SPDX-License-Identifier: Apache-2.0
// Every counter of the tables (counter.hpp): of what, its unit, what it means, its path in the report, its name for SAI
// and for Prometheus. docs/reference is made from it.
#pragma once

#include "control/telemetry/json.hpp"

namespace softspine::control {

Json counters_reference();

}  // namespace softspine::control
