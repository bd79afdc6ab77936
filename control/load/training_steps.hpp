// SPDX-License-Identifier: Apache-2.0
// What a row of trainings makes each rank do in a step, and which collectives its groups do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "control/document/reader.hpp"
#include "control/model/fabric.hpp"
#include "control/rows/training_row.hpp"
#include "control/training/parallel_groups.hpp"

namespace softspine::control {

struct TrainingStep {
  ParallelSizes sizes;
  TrainingPlan plan;
};

// Nothing: it has complained.
std::optional<TrainingStep> step_of(Reader& reader, const TrainingRow& row, uint32_t ranks);

struct GroupShape {
  GroupKind kind = GroupKind::kTensor;
  uint32_t number = 0;  // of the group, among those of its kind
  RankGroup group;
  CollectiveShape shape;
  uint64_t times = 0;  // that a step has it
};

// By kind, by number of the group, as the plan's collectives. `hosts` by rank. False if `take` was false, or if a
// collective has too many bytes, and then it has complained.
bool for_each_shape(Reader& reader, const TrainingRow& row, const TrainingStep& step, const Fabric& fabric,
                    std::span<const uint32_t> hosts, const std::function<bool(const GroupShape&)>& take);

// What a row's layers come from: errors and warnings of them.
Value place_of_layers(const TrainingRow& row);

}  // namespace softspine::control
