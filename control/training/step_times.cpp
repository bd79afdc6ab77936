// SPDX-License-Identifier: Apache-2.0
#include "control/training/step_times.hpp"

#include <algorithm>

namespace softspine::control {

using dataplane::Duration;
using dataplane::Instant;
using Kind = TrainingAction::Kind;

StepTimes::StepTimes(const TrainingRun& run) : run_(run) {
  for (uint32_t i = 0; i < run.plan.actions.size(); ++i) {
    if (run.plan.actions[i].kind != Kind::kBegin) actions_.push_back(i);
  }
  steps_.reserve(run.iterations);
}

// Begins and ends of a line alternate.
void StepTimes::done(uint32_t line, Instant started, Instant now) {
  if (line == 0) return take_action(now);
  const size_t kind = kind_of(line);
  if (is_busy_[kind]) sums_.busy[kind] += started - busy_since_[kind];
  is_busy_[kind] = !is_busy_[kind];
  busy_since_[kind] = now;
}

void StepTimes::take_action(Instant now) {
  const Duration passed = now - last_;
  last_ = now;
  if (!has_started_) {
    has_started_ = true;
    step_began_ = now;
    return;
  }
  const TrainingAction& action = run_.plan.actions[actions_[next_]];
  if (action.kind == Kind::kCompute) {
    sums_.compute += passed;
  } else {
    sums_.exposed[static_cast<size_t>(action.group)] += passed;
    if (passed > longest_.time) longest_ = {passed, actions_[next_], steps_.size()};
  }
  if (++next_ < actions_.size()) return;
  next_ = 0;
  steps_.push_back(now - step_began_);
  step_began_ = now;
  whole_ = sums_;
}

KindTimes StepTimes::of(GroupKind kind) const {
  const auto index = static_cast<size_t>(kind);
  const Duration exposed = whole_.exposed[index];
  return {a_step(exposed), a_step(std::max(Duration{}, whole_.busy[index] - exposed)),
          whole_.sent_bytes[index] / std::max<uint64_t>(1, steps_.size())};
}

}  // namespace softspine::control
