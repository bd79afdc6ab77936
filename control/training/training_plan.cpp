// SPDX-License-Identifier: Apache-2.0
#include "control/training/training_plan.hpp"

#include <algorithm>

#include "dataplane/units/wide.hpp"

namespace softspine::control {

using dataplane::Duration;
using Kind = TrainingAction::Kind;
using Phase = TrainingPhase;

namespace {

class PlanMaker {
 public:
  PlanMaker(std::span<const TrainingLayer> layers, const ParallelGroups& groups, uint64_t compute_millionths)
      : layers_(layers), groups_(groups), compute_millionths_(compute_millionths) {
    for (const TrainingLayer& layer : layers) out_.layers.push_back(layer.name);
  }

  void add_step() {
    for (size_t i = 0; i < layers_.size(); ++i) add_blocking(i, Phase::kForward);
    for (size_t i = layers_.size(); i-- > 0;) {
      add_blocking(i, Phase::kInputGradient);
      add_begun(i, Phase::kWeightGradient);
    }
    add_updates();
  }

  void add_one_by_one() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      for (const Phase phase : {Phase::kForward, Phase::kInputGradient, Phase::kWeightGradient}) add_blocking(i, phase);
      add_compute(i, Phase::kUpdate, layers_[i].update);
    }
  }

  TrainingPlan take() { return std::move(out_); }

 private:
  struct Waited {
    GroupKind group = GroupKind::kData;
    uint32_t begun = 0;  // 0: nothing to wait for
  };

  const LayerPhase& of(size_t layer, Phase phase) const {
    const TrainingLayer& it = layers_[layer];
    return phase == Phase::kForward         ? it.forward
           : phase == Phase::kInputGradient ? it.input_gradient
                                            : it.weight_gradient;
  }

  void add_compute(size_t layer, Phase phase, Duration time) {
    const auto scaled = dataplane::Uint128{static_cast<uint64_t>(time.count_ps())} * compute_millionths_ / 1'000'000;
    if (scaled == 0) return;
    out_.actions.push_back({.kind = Kind::kCompute,
                            .phase = phase,
                            .layer = static_cast<uint32_t>(layer),
                            .time = Duration::ps(static_cast<int64_t>(scaled))});
  }

  Waited begin(size_t layer, Phase phase) {
    const LayerPhase& it = of(layer, phase);
    add_compute(layer, phase, it.compute);
    if (!it.op || it.bytes == 0 || groups_.size(it.group) < 2) return {};
    const auto kind = static_cast<size_t>(it.group);
    auto& known = out_.collectives[kind];
    const GroupCollective collective{*it.op, it.bytes};
    const auto found = std::ranges::find(known, collective);
    const auto index = static_cast<uint32_t>(found - known.begin());
    if (found == known.end()) known.push_back(collective);
    if (std::ranges::find(out_.kinds, it.group) == out_.kinds.end()) out_.kinds.push_back(it.group);
    out_.actions.push_back({.kind = Kind::kBegin,
                            .phase = phase,
                            .group = it.group,
                            .layer = static_cast<uint32_t>(layer),
                            .collective = index});
    return {it.group, ++begun_[kind]};
  }

  void wait(size_t layer, Phase phase, const Waited& waited) {
    if (waited.begun == 0) return;
    out_.actions.push_back({.kind = Kind::kWait,
                            .phase = phase,
                            .group = waited.group,
                            .layer = static_cast<uint32_t>(layer),
                            .begun = waited.begun});
  }

  void add_blocking(size_t layer, Phase phase) { wait(layer, phase, begin(layer, phase)); }
  void add_begun(size_t layer, Phase phase) { beside_.push_back(begin(layer, phase)); }

  void add_updates() {
    for (size_t i = layers_.size(); i-- > 0;) {
      wait(i, Phase::kWeightGradient, beside_[layers_.size() - 1 - i]);
      add_compute(i, Phase::kUpdate, layers_[i].update);
    }
  }

  std::span<const TrainingLayer> layers_;
  const ParallelGroups& groups_;
  uint64_t compute_millionths_;
  std::array<uint32_t, kGroupKinds> begun_{};
  std::vector<Waited> beside_;  // from the last layer on
  TrainingPlan out_;
};

}  // namespace

TrainingPlan plan_of(std::span<const TrainingLayer> layers, StepOrder order, const ParallelGroups& groups,
                     uint64_t compute_millionths) {
  PlanMaker maker(layers, groups, compute_millionths);
  order == StepOrder::kStep ? maker.add_step() : maker.add_one_by_one();
  return maker.take();
}

}  // namespace softspine::control
