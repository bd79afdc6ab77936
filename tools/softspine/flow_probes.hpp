// SPDX-License-Identifier: Apache-2.0
// Flows to examine: a testbed's own, or random ones. Those of captures: captured_flows.hpp.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "control/explain/flow_choices.hpp"

namespace softspine::tools {

using FlowProbes = std::expected<std::vector<control::FlowProbe>, std::string>;

// One flow for each queue pair of the testbed's workloads, with the bytes that it has to send.
FlowProbes workload_flows(control::Walker& walker);

// RoCEv2 between random hosts of different racks, as the kernel would draw QPs and source ports.
FlowProbes random_flows(control::Walker& walker, uint32_t count, uint64_t seed);

}  // namespace softspine::tools
