// SPDX-License-Identifier: Apache-2.0
// The ranks of a testbed's collectives: at each of their hosts that is here a RankProgram, which executes the rank's
// stream (control/collectives/sequence.hpp).
//
// An iteration lasts at a rank from one joint of its stream to the next. What the report says of it is the mean over
// the ranks, as nccl-tests has it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/collectives/sequence.hpp"
#include "control/model/testbed.hpp"
#include "testbeds/hosts/rank_program.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/rank_links.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/step_log.hpp"

namespace softspine::testbeds {

class CollectiveRanks : public RunPart {
 public:
  // All must outlive it.
  CollectiveRanks(const control::Testbed& testbed, const LocalNodes& nodes, RankLinks& links, StepLog& steps);
  ~CollectiveRanks() override;

  void start() override;
  void snapshot(control::FabricSnapshot& out) override;

 private:
  // A rank whose host is here, and when its joints were done.
  class RankHere;
  using Ranks = std::vector<std::unique_ptr<RankHere>>;

  // What is known of a rank, wherever its host is.
  struct Facts;

  Facts facts_of(const control::CollectiveRun& run, const RankHere& rank) const;
  static control::CollectiveSnapshot copy(const control::CollectiveRun& run, const std::vector<Facts>& ranks);
  static control::CollectiveSizeSnapshot copy_size(const control::CollectiveRun& run, size_t size,
                                                   const std::vector<Facts>& ranks);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  RankLinks& links_;
  StepLog& steps_;
  std::vector<Ranks> ranks_here_;  // by collective
};

}  // namespace softspine::testbeds
