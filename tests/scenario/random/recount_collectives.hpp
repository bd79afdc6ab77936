// SPDX-License-Identifier: Apache-2.0
// How many bytes collectives moved, and when they ended (recount.hpp).
#pragma once

#include "tests/scenario/random/captured_run.hpp"
#include "tests/scenario/random/recount.hpp"

namespace softspine::tests {

void recount_collectives(const CapturedRun& run, Recount& out);

}  // namespace softspine::tests
