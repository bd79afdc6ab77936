// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "control/model/training_run.hpp"
#include "control/rows/rank_keys.hpp"

namespace softspine::control {

template <>
struct Words<GroupKind> {
  static constexpr auto all = kGroupWords;
};

struct LayerPhaseRow {
  Value where;
  dataplane::Duration compute;
  std::optional<Collective> op;
  std::optional<Bytes> size;
  std::optional<GroupKind> group;
};

struct TrainingLayerRow {
  Value where;
  std::string name;
  uint32_t times = 1;
  LayerPhaseRow forward;
  LayerPhaseRow input_gradient;
  LayerPhaseRow weight_gradient;
  dataplane::Duration update;
};

struct TrainingRow : RankKeys {
  std::optional<std::string> file;
  std::vector<TrainingLayerRow> layers;
  std::optional<uint32_t> tensor_parallel;
  std::optional<uint32_t> expert_parallel;
  Share compute_scale{1'000'000};
};

}  // namespace softspine::control
