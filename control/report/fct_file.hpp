// SPDX-License-Identifier: Apache-2.0
// Completion times as HPCC's ns-3 writes them (fct.txt), for the scripts that read that:
//
//   SOURCE DESTINATION SOURCE_PORT 100 BYTES START FCT ALONE
//
// Addresses are those that ns-3 gives node n, 0x0b000001 + n · 256, in eight hexadecimal digits; n is the number of a
// host in the fabric, from 0, as flow lists have it. 100 is the destination port by which those scripts know a flow.
// Times are in nanoseconds: FCT is from the start to the last acknowledgement (of an open loop to the last bit that
// arrives), ALONE what it would be without others.
// A line for each flow that has ended, in the order of their ends.
#pragma once

#include <string>

#include "control/model/fabric.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

std::string fct_text(const FabricSnapshot& snapshot, const Fabric& fabric);

}  // namespace softspine::control
