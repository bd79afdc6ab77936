// SPDX-License-Identifier: Apache-2.0
// How long priorities were paused, by the PFC frames of their neighbours (recount.hpp).
#pragma once

#include "tests/scenario/random/captured_run.hpp"
#include "tests/scenario/random/recount.hpp"

namespace softspine::tests {

void recount_pauses(const CapturedRun& run, Recount& out);

}  // namespace softspine::tests
