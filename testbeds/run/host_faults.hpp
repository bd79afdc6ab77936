// SPDX-License-Identifier: Apache-2.0
// Built-in hosts that fail on purpose, by the testbed's schedule.
#pragma once

#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

// Before the first window. Both outlive the run.
void schedule_host_faults(const control::Testbed& testbed, Assembly& assembly);

}  // namespace softspine::testbeds
