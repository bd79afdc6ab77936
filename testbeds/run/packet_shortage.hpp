// SPDX-License-Identifier: Apache-2.0
// The error of a run that has no memory left for packets.
#pragma once

#include <string>

#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

// A sentence: when, how much packets take, how much there is and why, and how much the testbed may need.
std::string packet_shortage(const control::Testbed& testbed, const Assembly& assembly);

}  // namespace softspine::testbeds
