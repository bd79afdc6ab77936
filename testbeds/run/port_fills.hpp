// SPDX-License-Identifier: Apache-2.0
// How full the queues and priority groups of switches are, as their MMUs have it now. From engine actions, or while
// nothing runs.
#pragma once

#include "control/telemetry/port_fill.hpp"
#include "dataplane/buffer/mmu.hpp"
#include "testbeds/run/local_nodes.hpp"

namespace softspine::testbeds {

control::PortFill fill_of(const dataplane::Mmu& mmu, dataplane::PortNo port);
// Of all switches, at rank 0: by all ranks at once.
control::PortFills fills_of(const LocalNodes& nodes);
control::PortFills fills_here(const LocalNodes& nodes);

}  // namespace softspine::testbeds
