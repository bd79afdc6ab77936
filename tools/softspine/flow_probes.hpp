// SPDX-License-Identifier: Apache-2.0
// Flows to look at: a testbed's own, a capture's, or random ones.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "control/explain/polarization.hpp"

namespace softspine::tools {

using FlowProbes = std::expected<std::vector<control::FlowProbe>, std::string>;

// One for each queue pair of the testbed's workloads.
FlowProbes workload_flows(control::Walker& walker);

// One for each distinct set of addresses, ports, protocol and QP, of packets whose source is a host.
FlowProbes captured_flows(control::Walker& walker, const std::string& path);

// RoCEv2 between random hosts of different racks, as the kernel would draw QPs and source ports.
FlowProbes random_flows(control::Walker& walker, uint32_t count, uint64_t seed);

}  // namespace softspine::tools
