// SPDX-License-Identifier: Apache-2.0
// From a traffic pattern to the flows that make it up: pure, the same for the same seed.
//
//   permutation  each host sends to one other and receives from one: a random derangement
//   incast       each of `from` → to[0]
//   pairs        from[i] → to[i]
//   all_to_all   each ordered pair of different hosts
//   ring         each host → the next in the list, the last → the first
//
// `cross_rack` keeps a permutation between hosts of different racks; no rack may hold more than half of the hosts.
// Each flow has `qps` queue pairs, which share its rate. A host gives out QP numbers (qp_numbers.hpp) over
// all workloads of one call, in the order of the flows; source and sink of a QP take one number each.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "control/model/workload.hpp"
#include "testbeds/hosts/host_config.hpp"

namespace softspine::testbeds {

struct Endpoint {
  IpAddress address;
  uint32_t rack = 0;
};

struct PlannedFlow {
  uint32_t workload;     // which of those given
  uint32_t source;       // of the endpoints
  uint32_t destination;  // of the endpoints
  FlowConfig flow;       // its id is the flow's index in the plan
  SinkConfig sink;       // with the same id
};

// Or what is wrong with the workloads, as sentences that begin with "workload N".
std::expected<std::vector<PlannedFlow>, std::vector<std::string>> plan_flows(
    std::span<const control::Workload> workloads, std::span<const Endpoint> endpoints, uint64_t seed);

}  // namespace softspine::testbeds
