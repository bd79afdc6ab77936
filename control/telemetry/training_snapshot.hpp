// SPDX-License-Identifier: Apache-2.0
// How far the ranks of a training are, and what their steps took.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/model/training.hpp"
#include "control/telemetry/collective_snapshot.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// A step that all ranks have ended: of their times.
struct TrainingStepSnapshot {
  dataplane::Duration mean;
  dataplane::Duration shortest;
  dataplane::Duration longest;
};

// What a step of a rank went to, or the mean of all ranks. Compute and what is exposed make the whole of it.
struct TrainingParts {
  std::string host;
  dataplane::Duration compute;
  std::array<dataplane::Duration, kGroupKinds> exposed{};     // by kind of group
  std::array<dataplane::Duration, kGroupKinds> overlapped{};  // likewise
  std::array<uint64_t, kGroupKinds> sent_bytes{};             // likewise

  dataplane::Duration all_exposed() const {
    dataplane::Duration out;
    for (const dataplane::Duration each : exposed) out += each;
    return out;
  }
};

// The longest time for which one rank did nothing but wait for one collective.
struct TrainingWait {
  std::string host;
  dataplane::Duration time;
  uint64_t step = 0;
  std::string layer;
  TrainingPhase phase = TrainingPhase::kForward;
  GroupKind group = GroupKind::kTensor;
};

struct TrainingSnapshot {
  std::string name;
  ParallelSizes sizes;
  uint64_t ranks = 0;
  uint64_t ranks_done = 0;
  uint32_t iterations = 0;
  std::vector<GroupKind> kinds;
  dataplane::Instant ended = dataplane::Instant::never();  // of the last that has; never() if none has
  std::vector<TrainingStepSnapshot> steps;
  // Of the ranks that are here: a step, the mean over a rank's whole steps. Nothing before each has ended one.
  TrainingParts mean;
  TrainingParts slowest;        // with the longest step
  TrainingParts least_exposed;  // the others wait for it
  TrainingWait longest_wait;
  std::vector<WaitingRank> waiting;
};

}  // namespace softspine::control
