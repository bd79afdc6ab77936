// SPDX-License-Identifier: Apache-2.0
// The ranks of a testbed's traces: at each of their hosts that is here a TraceProgram, which does the rank's recorded
// work (control/traces) over the queue pairs of the trace's workload.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/hosts/trace_program.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class TraceRanks : public RunPart {
 public:
  // All must outlive it.
  TraceRanks(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows);
  ~TraceRanks() override;

  void start() override;
  void snapshot(control::FabricSnapshot& out) override;

 private:
  class RankHere;
  using Ranks = std::vector<std::unique_ptr<RankHere>>;

  std::vector<std::vector<TraceConnection>> connections_of(const control::TraceRun& run) const;
  // What is known of a rank, wherever its host is.
  struct Facts;

  control::TraceSnapshot copy(const control::TraceRun& run, const std::vector<Facts>& ranks) const;

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  std::vector<Ranks> ranks_here_;  // by trace
};

}  // namespace softspine::testbeds
