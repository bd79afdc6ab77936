// SPDX-License-Identifier: Apache-2.0
// A training step: what each rank of a job computes, and the collectives that it takes part in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/model/collective.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Whom a rank does a collective with (control/training/parallel_groups.hpp).
enum class GroupKind : uint8_t { kTensor, kData, kExpert, kDataOfExperts };
inline constexpr size_t kGroupKinds = 4;
inline constexpr std::array<std::pair<std::string_view, GroupKind>, kGroupKinds> kGroupWords{
    {{"tensor", GroupKind::kTensor},
     {"data", GroupKind::kData},
     {"expert", GroupKind::kExpert},
     {"data_of_experts", GroupKind::kDataOfExperts}}};

enum class TrainingPhase : uint8_t { kForward, kInputGradient, kWeightGradient, kUpdate };
inline constexpr std::array<std::string_view, 4> kPhaseWords{"forward", "input_gradient", "weight_gradient", "update"};

constexpr std::string_view word_for(GroupKind kind) {
  return kGroupWords[static_cast<size_t>(kind)].first;
}
constexpr std::string_view word_for(TrainingPhase phase) {
  return kPhaseWords[static_cast<size_t>(phase)];
}

struct ParallelSizes {
  uint32_t tensor = 1;  // TP
  uint32_t expert = 1;  // EP
};

// A rank computes, and then does a collective, if there is one.
struct LayerPhase {
  dataplane::Duration compute;
  std::optional<Collective> op;
  GroupKind group = GroupKind::kTensor;
  uint64_t bytes = 0;  // as of CollectiveShape
};

struct TrainingLayer {
  std::string name;
  LayerPhase forward;
  LayerPhase input_gradient;
  LayerPhase weight_gradient;
  dataplane::Duration update;
};

struct GroupCollective {
  Collective op = Collective::kAllReduce;
  uint64_t bytes = 0;
  bool operator==(const GroupCollective&) const = default;
};

struct TrainingAction {
  enum class Kind : uint8_t { kCompute, kBegin, kWait };

  Kind kind = Kind::kCompute;
  TrainingPhase phase = TrainingPhase::kForward;
  GroupKind group = GroupKind::kTensor;  // begin, wait
  uint32_t layer = 0;
  uint32_t collective = 0;   // begin: of TrainingPlan::collectives
  uint32_t begun = 0;        // wait: so many of the step's collectives of this kind must have ended
  dataplane::Duration time;  // compute
};

// What each rank does in a step, one action after the other. A collective that has begun goes on beside what follows
// until it is waited for; those of one kind go one after the other. A step waits for all that it begins.
struct TrainingPlan {
  std::vector<std::string> layers;  // their names
  std::vector<TrainingAction> actions;
  std::vector<GroupKind> kinds;                                       // that have collectives
  std::array<std::vector<GroupCollective>, kGroupKinds> collectives;  // by kind, each once
};

}  // namespace softspine::control
