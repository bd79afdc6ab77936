// SPDX-License-Identifier: Apache-2.0
// One worker: some parts of the fabric, and the loop over its windows (see engine.hpp).
#pragma once

#include <cstdint>

#include "dataplane/engine/clock.hpp"
#include "dataplane/engine/edge_polls.hpp"
#include "dataplane/engine/meeting.hpp"
#include "dataplane/engine/window_group.hpp"
#include "dataplane/units/histogram.hpp"

namespace softspine::dataplane {

class Engine;

enum class RunEnd : uint8_t {
  kDone,     // everything before the end has been handled
  kIdle,     // virtual clock: nothing is left to happen
  kStopped,  // stop() was called
};

class Worker {
 public:
  Worker(Engine& engine, Meeting& meeting, uint32_t index) : engine_(engine), meeting_(meeting), index_(index) {}

  // Those of the fabric's outermost parts that belong to this worker.
  WindowGroup& parts() { return parts_; }
  EdgePolls& edges() { return edges_; }
  void sleep_until(const Wake& wake) { wake_ = wake; }

  // Runs windows until `end`. All workers of the engine run this at once and leave it together.
  RunEnd run(Instant end) noexcept;

  uint64_t windows() const { return windows_; }
  uint64_t node_runs() const { return parts_.node_runs(); }
  const Histogram& lateness() const { return lateness_; }

 private:
  WindowReport report(bool busy) noexcept;
  bool is_time_to_poll(Instant horizon) noexcept;
  void run_window(Instant until) noexcept;
  void quiesce(Instant upto, bool asked) noexcept;

  Engine& engine_;
  Meeting& meeting_;
  uint32_t index_;
  WindowGroup parts_;
  EdgePolls edges_;
  Wake wake_;
  uint64_t windows_ = 0;
  uint32_t idle_rounds_ = 0;
  uint32_t windows_since_poll_ = 0;
  Histogram lateness_;
};

}  // namespace softspine::dataplane
