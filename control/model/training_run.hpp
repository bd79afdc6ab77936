// SPDX-License-Identifier: Apache-2.0
// Trainings of a testbed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/rank_traffic.hpp"
#include "control/model/training.hpp"

namespace softspine::control {

// Ranks that do the plan's step `iterations` times. The channels of a kind of group are those from
// kind × kMaxChannels on, so that messages of two groups never meet on a connection.
struct TrainingRun {
  static constexpr uint32_t kMaxChannels = 1024;

  std::string name;
  RankTraffic traffic;
  ParallelSizes sizes;
  TrainingPlan plan;
  // By kind, by number of the group, as the plan's collectives.
  std::array<std::vector<std::vector<CollectiveShape>>, kGroupKinds> shapes;
  uint32_t iterations = 1;
  dataplane::Instant start;
  Place place;

  static uint32_t first_channel(GroupKind kind) { return static_cast<uint32_t>(kind) * kMaxChannels; }
};

}  // namespace softspine::control
