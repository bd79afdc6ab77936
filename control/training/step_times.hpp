// SPDX-License-Identifier: Apache-2.0
// What a rank's step took, from its operations as they are done: the mean over its whole steps.
//
//   step          from the end of the one before, or of the start, to its last action's
//   compute       the plan's, at this rank
//   exposed       by kind of group: line 0 waited for a collective, and did nothing else
//   overlapped    by kind: a collective was under way, and line 0 did not wait for it
//   sent bytes    by kind
//
// A step's time is its compute and all that is exposed. A step that has not ended counts in nothing but longest_wait().
// Each mean is rounded down.
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
  uint64_t sent_bytes = 0;
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
  // Likewise: a send of a line behind the first.
  void sent(uint32_t line, uint64_t bytes) { sums_.sent_bytes[kind_of(line)] += bytes; }

  const std::vector<dataplane::Duration>& steps() const { return steps_; }
  dataplane::Duration compute() const { return a_step(whole_.compute); }
  KindTimes of(GroupKind kind) const;
  const LongestWait& longest_wait() const { return longest_; }

 private:
  struct Sums {
    dataplane::Duration compute;
    std::array<dataplane::Duration, kGroupKinds> exposed{};
    std::array<dataplane::Duration, kGroupKinds> busy{};
    std::array<uint64_t, kGroupKinds> sent_bytes{};
  };

  void take_action(dataplane::Instant now);
  size_t kind_of(uint32_t line) const { return static_cast<size_t>(run_.plan.kinds[line - 1]); }
  dataplane::Duration a_step(dataplane::Duration of_all) const {
    return steps_.empty() ? of_all : of_all / static_cast<int64_t>(steps_.size());
  }

  const TrainingRun& run_;
  std::vector<uint32_t> actions_;  // that line 0 has operations for
  size_t next_ = 0;                // of them
  bool has_started_ = false;
  dataplane::Instant last_;  // when the action before was done
  dataplane::Instant step_began_;
  std::vector<dataplane::Duration> steps_;
  Sums sums_;
  Sums whole_;  // when the last step ended: nothing is under way then
  std::array<bool, kGroupKinds> is_busy_{};
  std::array<dataplane::Instant, kGroupKinds> busy_since_{};
  LongestWait longest_;
};

}  // namespace softspine::control
