// SPDX-License-Identifier: Apache-2.0
// From workloads to the flows that make them up: pure, the same for the same seed.
//
// Who sends to whom: pairs.hpp. A permutation is drawn here: a random derangement. `cross_rack` keeps it between hosts
// of different racks; no rack may hold more than half of the hosts.
// Each flow has `qps` queue pairs, which share its rate. A host gives out QP numbers (qp_numbers.hpp) over
// all workloads of one call, in the order of the flows; source and sink of a QP take one number each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/traffic/flow.hpp"

namespace softspine::control {

struct TrafficHost {
  IpAddress address;
  uint32_t rack = 0;
};

struct PlannedFlow {
  uint32_t workload;     // which of those given
  uint32_t source;       // of the hosts
  uint32_t destination;  // of the hosts
  FlowConfig flow;       // its id is the flow's index in the plan
  SinkConfig sink;       // with the same id
};

// The workloads are such as load_testbed lets pass: what it refuses is not looked for again.
std::vector<PlannedFlow> plan_flows(std::span<const Workload> workloads, std::span<const TrafficHost> hosts,
                                    uint64_t seed);

}  // namespace softspine::control
