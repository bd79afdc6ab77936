// SPDX-License-Identifier: Apache-2.0
// The seed of every random test: SOFTSPINE_SEED, or 1. A failing test prints it, and how to run it again.
// How many fabrics, testbeds or switches it draws: SOFTSPINE_TESTBEDS, or what is usual. Sanitizers take their time.
#pragma once

#include <cstdint>

namespace softspine::tests {

uint64_t seed();
uint32_t to_draw(uint32_t usual);

}  // namespace softspine::tests
