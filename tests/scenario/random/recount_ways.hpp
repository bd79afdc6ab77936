// SPDX-License-Identifier: Apache-2.0
// The ways of flows in a recording, held against the ports by which a capture has their packets (recount.hpp).
#pragma once

#include "tests/scenario/random/captured_run.hpp"
#include "tests/scenario/random/recount.hpp"
#include "tests/scenario/random/run_variants.hpp"

namespace softspine::tests {

void recount_ways(const CapturedRun& run, const testbeds::RecordedTables& recording, Recount& out);

}  // namespace softspine::tests
