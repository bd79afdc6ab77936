// SPDX-License-Identifier: Apache-2.0
// How many bytes the NICs of a job send each other, by its workloads, collectives, trainings and traces. It does not
// depend on the placement.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/load/trace_files.hpp"
#include "control/placement/min_cut.hpp"
#include "control/rows/rows.hpp"
#include "control/topology/node_sets.hpp"

namespace softspine::control {

class JobTraffic {
 public:
  // `jobs` must have their final number of servers; which servers does not matter. A permutation is drawn only later,
  // so each possible receiver counts the same. Traffic with servers outside the job, and inside one, does not count.
  JobTraffic(const Job& job, std::span<const Job> jobs, const TestbedRow& testbed, NodeSets& sets, const Fabric& fabric,
             TraceFiles& files);

  // Of all of them, both ways.
  double bytes() const;
  // From one part of a fabric to another. `part_of`: by rank and NIC.
  double across(const std::vector<std::vector<uint32_t>>& part_of) const;

  struct ByRank {
    Talks talks;
    std::optional<Value> over;  // the workload with which there are more pairs of ranks than kMaxTalkingPairs
  };
  // Between NICs of one rail. `rail_of`: by NIC of a rank.
  ByRank by_rank(std::span<const uint32_t> rail_of) const;

 private:
  struct Nic {
    uint32_t rank = 0;
    uint32_t nic = 0;  // of the rank's server
  };
  struct Sent {
    bool is_all = false;  // each of `from` to each other of them; else each to the one beside it in `to`
    std::vector<Nic> from;
    std::vector<Nic> to;
    double bytes = 0;
    Value where;
  };
  class Reading;
  class RankSum;
  template <typename PartOf>
  static double across_of(const Sent& sent, PartOf&& part_of);

  std::vector<Sent> sent_;
  size_t ranks_ = 0;
};

}  // namespace softspine::control
