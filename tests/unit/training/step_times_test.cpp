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
  times.sent(2, 48);
  times.done(2, at(200), at(200));
  times.done(0, at(200), at(200));
  times.done(0, at(200), at(205));
  EXPECT_EQ(times.steps(), std::vector{Duration::ps(105)});
  EXPECT_EQ(times.compute(), Duration::ps(35));
  EXPECT_EQ(times.of(GroupKind::kTensor).exposed, Duration::ps(40));
  EXPECT_EQ(times.of(GroupKind::kTensor).overlapped, Duration{});
  EXPECT_EQ(times.of(GroupKind::kData).exposed, Duration::ps(30));
  EXPECT_EQ(times.of(GroupKind::kData).sent_bytes, 48u);
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
  EXPECT_EQ(times.of(GroupKind::kData).overlapped, Duration{}) << "the step has not ended";
  times.done(0, at(32), at(37));
  EXPECT_EQ(times.of(GroupKind::kData).exposed, Duration::ps(2));
  EXPECT_EQ(times.of(GroupKind::kData).overlapped, Duration::ps(30));
}

// The tensor group's collective takes `wait`, the data group's no time.
void add_step(StepTimes& times, int64_t begin, int64_t wait) {
  const int64_t second = begin + 10 + wait;
  times.done(0, at(begin), at(begin + 10));
  times.done(1, at(begin + 10), at(begin + 10));
  times.sent(1, 64);
  times.done(1, at(second), at(second));
  times.done(0, at(second), at(second));
  times.done(0, at(second), at(second + 20));
  times.done(2, at(second + 20), at(second + 20));
  times.done(2, at(second + 20), at(second + 20));
  times.done(0, at(second + 20), at(second + 20));
  times.done(0, at(second + 20), at(second + 25));
}

TEST(StepTimes, AreTheMeanOfWholeSteps) {
  const TrainingRun run = one_layer();
  StepTimes times(run);
  times.done(0, at(0), at(0));
  add_step(times, 0, 7);
  add_step(times, 42, 10);
  EXPECT_EQ(times.steps(), (std::vector{Duration::ps(42), Duration::ps(45)}));
  EXPECT_EQ(times.compute(), Duration::ps(35));
  EXPECT_EQ(times.of(GroupKind::kTensor).exposed, Duration::ps(8));
  EXPECT_EQ(times.of(GroupKind::kTensor).sent_bytes, 64u);
  times.done(0, at(87), at(1'000));
  times.sent(1, 1'000);
  EXPECT_EQ(times.compute(), Duration::ps(35)) << "a step that is under way";
  EXPECT_EQ(times.of(GroupKind::kTensor).sent_bytes, 64u);
  EXPECT_EQ(times.longest_wait().step, 1u);
}

}  // namespace
}  // namespace softspine::control
