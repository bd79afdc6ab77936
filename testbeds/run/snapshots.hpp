// SPDX-License-Identifier: Apache-2.0
// Copies every counter of the nodes that are here, from an engine action or while nothing runs.
#pragma once

#include "control/compile/compile.hpp"
#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"

namespace softspine::testbeds {

control::FabricSnapshot snapshot_of(const control::Testbed& testbed, const control::Compiler& compiler,
                                    const LocalNodes& nodes, const RunFlows& flows, dataplane::Instant now);

}  // namespace softspine::testbeds
