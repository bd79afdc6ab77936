// SPDX-License-Identifier: Apache-2.0
// A picture of a run's collectives: bus bandwidth over size, by nccl-tests' definitions, a line for each collective.
//
// Sizes stand on a scale of powers of two, bandwidths from 0. A mark's tip has its numbers: size, time, algorithm and
// protocol. A size that no iteration has ended is left out.
#pragma once

#include <string>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::string busbw_picture(const FabricSnapshot& snapshot, const std::string& testbed);

}  // namespace softspine::control
