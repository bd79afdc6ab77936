// SPDX-License-Identifier: Apache-2.0
// The traffic of others as a part of a testbed: how long it runs, a profile of its buffers and marks, its flows.
#pragma once

#include <string>

#include "control/imports/foreign_topology.hpp"
#include "control/imports/ns3_traffic.hpp"

namespace softspine::control {

std::string traffic_text(const ForeignTopology& topology, const ForeignTraffic& traffic);

}  // namespace softspine::control
