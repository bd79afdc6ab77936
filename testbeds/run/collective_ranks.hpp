// SPDX-License-Identifier: Apache-2.0
// The ranks of a testbed's collectives: at each of their hosts that is here a RankProgram, which executes the rank's
// stream (control/collectives/sequence.hpp) over the queue pairs of the collective's workload, and, within a server,
// over its hosts' scale-up links.
//
// An iteration lasts at a rank from one joint of its stream to the next. What the report says of it is the mean over
// the ranks, as nccl-tests has it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/collectives/sequence.hpp"
#include "control/model/testbed.hpp"
#include "testbeds/hosts/rank_program.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/scale_up_links.hpp"

namespace softspine::testbeds {

class CollectiveRanks : public RunPart {
 public:
  // All must outlive it.
  CollectiveRanks(const control::Testbed& testbed, const LocalNodes& nodes, const RunFlows& flows);
  ~CollectiveRanks() override;

  void start() override;
  void snapshot(control::FabricSnapshot& out) override;

 private:
  // A rank whose host is here, and when its joints were done.
  class RankHere;
  using Ranks = std::vector<std::unique_ptr<RankHere>>;

  // By node: how many sinks its scale-up port has so far.
  using ScaleUpSinks = std::map<uint32_t, uint32_t>;
  class ConnectionTable;

  std::vector<std::vector<RankConnection>> connections_of(const control::CollectiveRun& run, ScaleUpSinks& sinks) const;
  void connect_by_fabric(const control::CollectiveRun& run, ConnectionTable& table) const;
  void connect_by_scale_up(const control::CollectiveRun& run, ScaleUpSinks& sinks, ConnectionTable& table) const;
  ScaleUpPort* scale_up_of(uint32_t node) const;  // null: it is not here
  size_t first_flow_of(uint32_t workload) const;  // it has one
  control::CollectiveSnapshot copy(const control::CollectiveRun& run, const Ranks& ranks) const;
  static control::CollectiveSizeSnapshot copy_size(const control::CollectiveRun& run, size_t size, const Ranks& ranks);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  const RunFlows& flows_;
  ScaleUpLinks scale_up_;
  std::vector<Ranks> ranks_here_;  // by collective
};

}  // namespace softspine::testbeds
