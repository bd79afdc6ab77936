// SPDX-License-Identifier: Apache-2.0
// Flows to examine: random ones. A testbed's own: testbeds/run/workload_flows.hpp; those of captures:
// captured_flows.hpp.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "analysis/explain/flow_choices.hpp"

namespace softspine::analysis {

using FlowProbes = std::expected<std::vector<FlowProbe>, std::string>;

// RoCEv2 between random hosts of different racks, as the kernel would draw QPs and source ports.
FlowProbes random_flows(Walker& walker, uint32_t count, uint64_t seed);

}  // namespace softspine::analysis
