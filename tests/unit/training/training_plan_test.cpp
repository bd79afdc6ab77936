// SPDX-License-Identifier: Apache-2.0
#include "control/training/training_plan.hpp"

#include <gtest/gtest.h>

#include <string>

namespace softspine::control {
namespace {

using dataplane::Duration;

LayerPhase phase(int64_t ps, uint64_t bytes, GroupKind group = GroupKind::kTensor) {
  return {Duration::ps(ps), bytes == 0 ? std::nullopt : std::optional(Collective::kAllReduce), group, bytes};
}

std::vector<TrainingLayer> two_layers() {
  return {{"a", phase(1, 100), phase(2, 200), phase(3, 300, GroupKind::kData), Duration::ps(4)},
          {"b", phase(5, 100), phase(6, 0), phase(7, 300, GroupKind::kData), Duration::ps(8)}};
}

// As `c1 bT0 wT1`: computes for 1 ps; begins the tensor group's collective 0; waits for its first one in the step.
std::string text_of(const TrainingPlan& plan) {
  std::string out;
  for (const TrainingAction& it : plan.actions) {
    if (!out.empty()) out += ' ';
    const char group = it.group == GroupKind::kTensor ? 'T' : 'D';
    if (it.kind == TrainingAction::Kind::kCompute) out += "c" + std::to_string(it.time.count_ps());
    if (it.kind == TrainingAction::Kind::kBegin) out += std::string("b") + group + std::to_string(it.collective);
    if (it.kind == TrainingAction::Kind::kWait) out += std::string("w") + group + std::to_string(it.begun);
  }
  return out;
}

TEST(TrainingPlan, GoesForwardThenBackwardAndWaitsForGradientsAtTheEnd) {
  const TrainingPlan plan = plan_of(two_layers(), StepOrder::kStep, ParallelGroups(8, {2, 1}), 1'000'000);
  EXPECT_EQ(text_of(plan), "c1 bT0 wT1 c5 bT0 wT2 c6 c7 bD0 c2 bT1 wT3 c3 bD0 wD1 c8 wD2 c4");
  EXPECT_EQ(plan.kinds, (std::vector{GroupKind::kTensor, GroupKind::kData}));
  const auto& tensor = plan.collectives[static_cast<size_t>(GroupKind::kTensor)];
  EXPECT_EQ(tensor, (std::vector<GroupCollective>{{Collective::kAllReduce, 100}, {Collective::kAllReduce, 200}}));
}

TEST(TrainingPlan, OfOneByOneWaitsForEach) {
  const TrainingPlan plan = plan_of(two_layers(), StepOrder::kOneByOne, ParallelGroups(8, {2, 1}), 1'000'000);
  EXPECT_EQ(text_of(plan), "c1 bT0 wT1 c2 bT1 wT2 c3 bD0 wD1 c4 c5 bT0 wT3 c6 c7 bD0 wD2 c8");
}

TEST(TrainingPlan, LeavesOutCollectivesOfOneRankAndComputeOfNoTime) {
  EXPECT_EQ(text_of(plan_of(two_layers(), StepOrder::kStep, ParallelGroups(8, {8, 1}), 1'000'000)),
            "c1 bT0 wT1 c5 bT0 wT2 c6 c7 c2 bT1 wT3 c3 c8 c4");
  EXPECT_EQ(text_of(plan_of(two_layers(), StepOrder::kStep, ParallelGroups(8, {1, 1}), 0)), "bD0 bD0 wD1 wD2");
}

TEST(TrainingPlan, ScalesCompute) {
  EXPECT_EQ(text_of(plan_of(two_layers(), StepOrder::kStep, ParallelGroups(8, {2, 1}), 2'500'000)),
            "c2 bT0 wT1 c12 bT0 wT2 c15 c17 bD0 c5 bT1 wT3 c7 bD0 wD1 c20 wD2 c10");
}

}  // namespace
}  // namespace softspine::control
