// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace softspine::testbeds {

// Cycles of the time stamp counter per microsecond, measured once against CLOCK_MONOTONIC (10 ms). Perftest's "cpu MHz"
// is this, and not the present clock of a core, which /proc/cpuinfo shows on machines that vary it.
double tsc_mhz();

}  // namespace softspine::testbeds
