// SPDX-License-Identifier: Apache-2.0
// What a rank's steps took, from its operations as they are done.
//
//   step          from the end of the one before, or of the start, to its last action's
//   compute       the plan's, at this rank
//   exposed       by kind of group: line 0 waited for a collective, and did nothing else
//   overlapped    by kind: a collective was under way, and line 0 did not wait for it
//
// A step's time is its compute and all that is exposed. Only whole steps count, but for what is under way at the end.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "control/model/training_run.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

struct KindTimes {
  dataplane::Duration exposed;
  dataplane::Duration overlapped;
};

struct LongestWait {
  dataplane::Duration time;
  uint32_t action = 0;  // of the plan
  uint64_t step = 0;
};

class StepTimes {
 public:
  explicit StepTimes(const TrainingRun& run);

  // In the order in which they are done; those of all lines that are no messages and no work on bytes.
  void done(uint32_t line, dataplane::Instant started, dataplane::Instant now);

  const std::vector<dataplane::Duration>& steps() const { return steps_; }
  dataplane::Duration compute() const { return compute_; }
  KindTimes of(GroupKind kind) const;
  dataplane::Duration exposed() const;
  const LongestWait& longest_wait() const { return longest_; }

 private:
  void take_action(dataplane::Instant now);

  const TrainingRun& run_;
  std::vector<uint32_t> actions_;  // that line 0 has operations for
  size_t next_ = 0;                // of them
  bool has_started_ = false;
  dataplane::Instant last_;  // when the action before was done
  dataplane::Instant step_began_;
  std::vector<dataplane::Duration> steps_;
  dataplane::Duration compute_;
  std::array<dataplane::Duration, kGroupKinds> exposed_{};
  std::array<dataplane::Duration, kGroupKinds> busy_{};
  std::array<bool, kGroupKinds> is_busy_{};
  std::array<dataplane::Instant, kGroupKinds> busy_since_{};
  LongestWait longest_;
};

}  // namespace softspine::control
