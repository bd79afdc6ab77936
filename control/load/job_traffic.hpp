// SPDX-License-Identifier: Apache-2.0
// How many bytes each rank of a job sends to each other rank, by its workloads. It does not depend on the placement.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/placement/min_cut.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/node_sets.hpp"

namespace softspine::control {

struct JobTraffic {
  Talks talks;
  double bytes = 0;           // of all of them, both ways
  std::optional<Value> over;  // the workload with which there are more pairs of ranks than kMaxTalkingPairs
};

// `jobs` must have their final number of servers; which servers does not matter. A permutation is drawn only later, so
// each possible receiver counts the same. Traffic with servers outside the job, and inside one server, does not count.
JobTraffic traffic_of(const Job& job, std::span<const Job> jobs, const std::vector<WorkloadRow>& rows, NodeSets& sets,
                      const Fabric& fabric);

}  // namespace softspine::control
