// SPDX-License-Identifier: Apache-2.0
// One rank's work over a whole run: the plan's step, again and again, in lines (control/traffic/graph.hpp).
//
//   line 0       start · what the plan computes and waits for, one after the other
//   line 1 …     for each kind of group with collectives: begin · its operations · end · begin · …
//                A begin needs what line 0 did before it, and the end before it; all of a collective need its begin;
//                an end needs them all. A wait needs an end
//
// Starts, begins, ends and waits take no time but `start`, which takes that of the run. A collective's stream is made
// when its begin is given. Each line has a window of its own, for two reasons. A slow collective beside the step would
// fill a common one, and keep operations of the step out that could go on. And two ranks, whose windows are full with
// operations of different collectives, might wait for each other for ever.
//
// Nobody waits for ever if line 0's window has room for one operation and each other's for least_windows(): all
// ranks of a group begin its collectives in one order, since they have one plan. Take the first begin, in the order
// of the plan, whose collective does not end at some rank of a group. What comes before it ends at all of them, so it
// begins at all of them, and then it ends by itself (control/collectives).
//
// Memory: of the streams of one collective a line, and a number for each collective of a step.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control/collectives/collective_stream.hpp"
#include "control/model/training_run.hpp"
#include "control/traffic/graph.hpp"
#include "control/training/parallel_groups.hpp"

namespace softspine::control {

class TrainingLines final : public WorkLines {
 public:
  // `run` outlives it.
  TrainingLines(const TrainingRun& run, uint32_t rank);

  uint32_t lines() const noexcept override { return static_cast<uint32_t>(1 + beside_.size()); }
  Answer next(uint32_t line, Operation& out) noexcept override;

  // Of the lines behind the first.
  static std::vector<uint32_t> least_windows(const TrainingRun& run, uint32_t rank);

 private:
  struct Line {
    GroupKind kind = GroupKind::kTensor;
    RankGroup group;
    const std::vector<CollectiveShape>* shapes = nullptr;
    std::vector<uint32_t> actions;  // that begin its collectives
    std::vector<uint64_t> needed;   // by these: how many operations of a step line 0 has given before
    std::vector<uint64_t> ends;     // likewise: the last end's number
    uint64_t begun = 0;             // collectives, of all steps
    uint64_t ended = 0;             // likewise: their ends are given
    uint64_t given = 0;             // operations
    uint64_t before = 0;            // of them before the collective's first
    std::unique_ptr<CollectiveStream> current;
    std::vector<uint64_t> needs;

    bool is_between() const { return begun == ended; }
    size_t of_step(uint64_t collective) const { return static_cast<size_t>(collective % actions.size()); }
  };

  Answer next_of_step(Operation& out);
  Answer next_beside(uint32_t number, Line& line, Operation& out);
  Answer begin(Line& line, Operation& out);
  void end(uint32_t number, Line& line, Operation& out);
  Line& line_of_kind(GroupKind kind);
  uint64_t actions_in_all() const { return run_.plan.actions.size() * run_.iterations; }

  const TrainingRun& run_;
  uint32_t rank_;
  std::vector<Line> beside_;
  uint64_t passed_ = 0;       // actions
  bool has_started_ = false;  // line 0
  uint64_t of_a_step_ = 0;    // operations of line 0
  std::vector<uint64_t> needs_;
};

}  // namespace softspine::control
