// SPDX-License-Identifier: Apache-2.0
// The ranks of a testbed's trainings: at each of their hosts that is here a RankProgram, which executes the rank's
// lines (control/training/training_lines.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/rank_links.hpp"
#include "testbeds/run/run_part.hpp"
#include "testbeds/run/step_log.hpp"

namespace softspine::testbeds {

class TrainingRanks : public RunPart {
 public:
  // All must outlive it.
  TrainingRanks(const control::Testbed& testbed, const LocalNodes& nodes, RankLinks& links, StepLog& steps);
  ~TrainingRanks() override;

  void start() override;
  void snapshot(control::FabricSnapshot& out) override;

 private:
  class RankHere;
  using Ranks = std::vector<std::unique_ptr<RankHere>>;

  // What is known of a rank, wherever its host is.
  struct Facts;

  Facts facts_of(const control::TrainingRun& run, const RankHere& rank) const;
  static control::TrainingSnapshot copy(const control::TrainingRun& run, const std::vector<Facts>& ranks);
  static void copy_longest_wait(const control::TrainingRun& run, const std::vector<Facts>& ranks,
                                control::TrainingSnapshot& out);
  static void copy_parts(const std::vector<Facts>& ranks, control::TrainingSnapshot& out);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  RankLinks& links_;
  StepLog& steps_;
  std::vector<Ranks> ranks_here_;  // by training
};

}  // namespace softspine::testbeds
