// SPDX-License-Identifier: Apache-2.0
// What packets collected on their way, and what acknowledgements say of it (recount.hpp).
#pragma once

#include "tests/scenario/random/captured_run.hpp"
#include "tests/scenario/random/recount.hpp"

namespace softspine::tests {

void recount_echoes(const CapturedRun& run, Recount& out);

}  // namespace softspine::tests
