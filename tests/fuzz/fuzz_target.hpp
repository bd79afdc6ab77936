// SPDX-License-Identifier: Apache-2.0
// What a fuzz target is made of, as libFuzzer and replay_main.cpp call it. The first need not be there: whoever calls
// it asks for its address. A target that has it includes this: GCC has to know that a function is weak before it sees
// it defined, and replay_main.cpp may stand behind the target in one translation unit.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
