// SPDX-License-Identifier: Apache-2.0
// What the simulator saw, as a capture: the bytes of a pcapng file.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/model/storm/pause_simulator.hpp"

namespace softspine::tests {

enum class Telling : uint8_t {
  kDescribed,  // what each port transmitted; interfaces say where their link leads
  kBothWays,   // what each port transmitted and received; nothing is said
  kByTraffic,  // what each port transmitted, with a frame each way of each link in use; nothing is said
};

std::vector<uint8_t> capture_of(const PauseSimulator& simulated, Telling telling);

}  // namespace softspine::tests
