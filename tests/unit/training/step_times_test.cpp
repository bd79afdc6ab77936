// SPDX-License-Identifier: Apache-2.0
#include "control/training/step_times.hpp"

#include <gtest/gtest.h>

#include "control/training/training_plan.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using dataplane::Instant;

Instant at(int64_t ps) {
  return Instant::at_ps(ps);
}

// One layer: computes 10, waits for its tensor group, computes 20, exchanges gradients, updates.
TrainingRun one_layer() {
  TrainingRun run;
  run.iterations = 2;
  run.traffic.hosts.resize(4);
  run.sizes = {2, 1};
  const std::vector<TrainingLayer> layers{{"a",
                                           {Duration::ps(10), Collective::kAllReduce, GroupKind::kTensor, 64},
                                           {},
                                           {Duration::ps(20), Collective::kAllReduce, GroupKind::kData, 64},
                                           Duration::ps(5)}};
  run.plan = plan_of(layers, StepOrder::kStep, ParallelGroups(4, run.sizes), 1'000'000);
  return run;
}

TEST(StepTimes, DivideAStepIntoComputeAndWhatItWaitedFor) {
  const TrainingRun run = one_layer();
  StepTimes times(run);
  times.done(0, at(0), at(100));  // the start
  times.done(0, at(100), at(110));
  times.done(1, at(110), at(110));  // the tensor group's begin and end
  times.done(1, at(150), at(150));
  times.done(0, at(150), at(150));
  times.done(0, at(150), at(170));
  times.done(2, at(170), at(170));
  EXPECT_TRUE(times.steps().empty());
  times.done(2, at(200), at(200));
  times.done(0, at(200), at(200));
  times.done(0, at(200), at(205));
  EXPECT_EQ(times.steps(), std::vector{Duration::ps(105)});
  EXPECT_EQ(times.compute(), Duration::ps(35));
  EXPECT_EQ(times.of(GroupKind::kTensor).exposed, Duration::ps(40));
  EXPECT_EQ(times.of(GroupKind::kTensor).overlapped, Duration{});
  EXPECT_EQ(times.of(GroupKind::kData).exposed, Duration::ps(30));
  EXPECT_EQ(times.exposed() + times.compute(), times.steps()[0]);
  EXPECT_EQ(times.longest_wait().time, Duration::ps(40));
  EXPECT_EQ(run.plan.actions[times.longest_wait().action].phase, TrainingPhase::kForward);
}

TEST(StepTimes, CallOverlappedWhatGoesOnBesideCompute) {
  const TrainingRun run = one_layer();
  StepTimes times(run);
  times.done(0, at(0), at(0));
  times.done(2, at(0), at(0));
  times.done(0, at(0), at(10));
  times.done(0, at(10), at(10));
  times.done(0, at(10), at(30));
  times.done(2, at(32), at(32));
  times.done(0, at(32), at(32));
  EXPECT_EQ(times.of(GroupKind::kData).exposed, Duration::ps(2));
  EXPECT_EQ(times.of(GroupKind::kData).overlapped, Duration::ps(30));
}

}  // namespace
}  // namespace softspine::control
