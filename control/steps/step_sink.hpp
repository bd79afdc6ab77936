// SPDX-License-Identifier: Apache-2.0
// A receiver of what the ranks of collectives and trainings do, while they run (testbeds/run/step_log.hpp).
//
//   begin(jobs)          once, before the first; collectives, then trainings, in the testbed's order
//   step(record)         an operation that is done, in the order of StepRecord::order()
//   wait(found)          a wait that is over, behind the step of its receive; if the run finds reasons (`run --steps`)
//                        and takes_waits()
//   known_before(now)    every operation that was done before `now` has been handed over; never(): all of them
#pragma once

#include <vector>

#include "control/steps/step_history.hpp"
#include "control/steps/step_record.hpp"

namespace softspine::control {

class StepSink {
 public:
  StepSink() = default;
  virtual ~StepSink() = default;
  StepSink(const StepSink&) = delete;
  StepSink& operator=(const StepSink&) = delete;

  virtual void begin(const std::vector<StepJob>& jobs) = 0;
  virtual void step(const StepRecord& record) = 0;
  virtual bool takes_waits() const { return false; }
  virtual void wait(const FoundWait& /*found*/) {}
  virtual void known_before(dataplane::Instant now) = 0;
};

}  // namespace softspine::control
