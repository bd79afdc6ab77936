// SPDX-License-Identifier: Apache-2.0
// What the ranks of a recording had done and waited for by an instant, as `show rank waits` and `show rank spans` have
// it of a running fabric (control/report/step_text.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/record/database.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/steps_snapshot.hpp"

namespace softspine::analysis {

class RecordedRanks {
 public:
  // It must outlive this, and has what went wrong.
  explicit RecordedRanks(control::Database& recording) : recording_(recording) {}

  // Null: the run was without `--steps`, or had no ranks.
  control::Json waits(int64_t at_ps);
  // Null: it had no ranks.
  control::Json spans(int64_t at_ps);

 private:
  struct Job {
    int64_t id = 0;
    std::string name;
    bool is_training = false;
    bool is_explained = false;
    std::vector<std::string> hosts;                // by rank
    std::vector<std::optional<int64_t>> first_ps;  // by rank: the end of its first step; none: it has done nothing
  };
  const std::vector<Job>& jobs();
  void read_first_steps();
  // With the ranks that have done something by then.
  control::JobSteps begin(const Job& job, int64_t at_ps);
  void add_waits(const Job& job, int64_t at_ps, control::JobSteps& out);
  void add_causes(const Job& job, int64_t at_ps, control::JobSteps& out);
  void add_longest(const Job& job, int64_t at_ps, control::JobSteps& out);
  void add_spans(const Job& job, int64_t at_ps, control::RankSteps& out);

  control::Database& recording_;
  std::vector<Job> jobs_;
  bool has_jobs_ = false;  // jobs_ were read
};

}  // namespace softspine::analysis
