// SPDX-License-Identifier: Apache-2.0
// Which flows have not ended and cannot go on for want of a way, and why.
//
//   its port has no link       the flow waits there until the link is repaired. It goes on if its host's bond is about
//   to
//                              look and has another port, also if that look would come after the end
//   its destination has none   whatever is sent to it is lost
//   no route                   the switch before it drops what it sends
//   given up                   its reliable connection has timed out too often in a row
//   silence                    its reliable connection's packets were lost, and its ack_timeout is 0
// A flow whose open-loop packets were lost on their way and that has sent all of them has ended, short of what is
// missing.
#pragma once

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/run_flows.hpp"

namespace softspine::testbeds {

// Fills FlowSnapshot::stalled of flows that are sent here. The flows of the snapshot are those of the run, in the same
// order.
void find_stalled(const control::Testbed& testbed, const dataplane::Engine& engine, const RunFlows& flows,
                  const LinkControl& links, control::FabricSnapshot& snapshot);

}  // namespace softspine::testbeds
