// SPDX-License-Identifier: Apache-2.0
// When packets left by their pace, and how long flows stood still (recount.hpp).
#pragma once

#include "tests/scenario/random/captured_run.hpp"
#include "tests/scenario/random/recount.hpp"

namespace softspine::tests {

void recount_times(const CapturedRun& run, Recount& out);

}  // namespace softspine::tests
