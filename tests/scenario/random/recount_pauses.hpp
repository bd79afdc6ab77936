// SPDX-License-Identifier: Apache-2.0
// How long priorities were paused, by the PFC frames of their neighbours, and ns-3's lines of these (recount.hpp).
#pragma once

#include "tests/scenario/random/captured_run.hpp"
#include "tests/scenario/random/recount.hpp"

namespace softspine::tests {

void recount_pauses(const CapturedRun& run, Recount& out);
void recount_pause_file(const CapturedRun& run, std::string_view file, Recount& out);

}  // namespace softspine::tests
