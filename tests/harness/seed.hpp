// SPDX-License-Identifier: Apache-2.0
// The seed of every random test: SOFTSPINE_SEED, or 1. A failing test prints it, and how to run it again.
// How many fabrics, testbeds or switches it draws: SOFTSPINE_TESTBEDS, or what is usual, or one in SOFTSPINE_ONE_IN of
// those. Sanitizers take their time, and a newcomer has little.
#pragma once

#include <cstdint>
#include <string>

namespace softspine::tests {

uint64_t seed();
uint32_t to_draw(uint32_t usual);
// How often something cheap is repeated, or for how many packets: as usual, or a fifth where few are drawn.
uint32_t to_repeat(uint32_t usual);
// The variables that are set, as a shell takes them before a command.
std::string draws_asked_for();

}  // namespace softspine::tests
