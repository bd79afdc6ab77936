// SPDX-License-Identifier: Apache-2.0
// Which pairs of ToRs are stacks: `topology: {stacks: …}`.
#pragma once

#include "control/topology/expand.hpp"

namespace softspine::control {

void stack_switches(Reader& reader, const TestbedRow& row, Expanded& out);

// Stacks whose timers outlast the run.
void find_slow_stacks(Reader& reader, const TestbedRow& row, const Testbed& testbed);

}  // namespace softspine::control
