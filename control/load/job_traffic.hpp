// SPDX-License-Identifier: Apache-2.0
// What the ranks of a job say to each other, as its workloads have it, wherever it is placed.
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

// `jobs` have as many servers as they will have; which ones does not matter. Of a permutation, which is drawn, each
// receiver counts alike. Who is not in the job does not count, nor what a server's NICs send each other.
JobTraffic traffic_of(const Job& job, std::span<const Job> jobs, const std::vector<WorkloadRow>& rows, NodeSets& sets,
                      const Fabric& fabric);

}  // namespace softspine::control
