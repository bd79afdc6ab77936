// SPDX-License-Identifier: Apache-2.0
// The seed of every random test: SOFTSPINE_SEED, or 1. A failing test prints it, and how to run it again.
#pragma once

#include <cstdint>

namespace softspine::tests {

uint64_t seed();

}  // namespace softspine::tests
