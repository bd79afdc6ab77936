// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/worker.hpp"

#include <algorithm>

#include "dataplane/engine/engine.hpp"

namespace softspine::dataplane {

// The outside is asked when all that was due is done: under overload it waits outside, where it can be
// pushed back, and not in here. A fabric that never catches up still asks now and then.
bool Worker::is_time_to_poll(Instant horizon) noexcept {
  constexpr uint32_t kWindowsBetweenLimit = 64;
  if (edges_.empty()) return false;
  const bool caught_up = parts_.next() >= horizon;
  if (!caught_up && ++windows_since_poll_ < kWindowsBetweenLimit) return false;
  windows_since_poll_ = 0;
  return true;
}

WindowReport Worker::report(bool busy) noexcept {
  WindowReport mine;
  mine.next = parts_.next();
  mine.horizon = engine_.clock_.horizon();
  mine.busy = busy;
  if (index_ == 0) {
    mine.action = engine_.next_action();
    mine.act = engine_.posted_flag_.load(std::memory_order_relaxed);
    mine.stop = engine_.stopping_.load(std::memory_order_relaxed);
  }
  return mine;
}

void Worker::run_window(Instant until) noexcept {
  if (engine_.clock_.is_wall() && parts_.next() < until) {
    lateness_.add((engine_.clock_.horizon() - parts_.next()).count_ps());
  }
  ++windows_;
  parts_.run_window(until);
}

// All workers have what was sent to them, then worker 0 acts alone, then all go on.
void Worker::quiesce(Instant upto, bool asked) noexcept {
  meeting_.wait(index_);
  if (index_ == 0) engine_.run_actions(upto, asked);
  meeting_.wait(index_);
}

RunEnd Worker::run(Instant end) noexcept {
  Instant floor = engine_.now_;
  Instant horizon;
  const auto reach = [&](Instant upto) {
    floor = upto;
    if (index_ == 0) engine_.reach(upto);
  };
  for (;;) {
    const bool busy = is_time_to_poll(horizon) && edges_.poll(std::max(floor, engine_.clock_.horizon()));
    const WindowReport all = meeting_.meet(index_, report(busy));
    const Instant limit = std::min(all.action, end);
    const Instant first = std::min(all.next, limit);
    horizon = all.horizon;
    if (all.stop) return RunEnd::kStopped;
    if (all.act) {  // now, and not when something else happens
      if (engine_.clock_.is_wall()) reach(std::max(floor, std::min(all.horizon, first)));  // it may have slept
      quiesce(floor, all.act);
      continue;
    }
    if (all.action < end && all.next >= all.action && all.horizon >= all.action) {
      reach(all.action);
      quiesce(floor, all.act);
      continue;
    }
    if (first == end && all.horizon >= end) {
      if (index_ == 0 && !end.is_never()) engine_.reach(end);
      return all.next.is_never() && all.action.is_never() && !engine_.clock_.is_wall() ? RunEnd::kIdle : RunEnd::kDone;
    }
    const Instant until = std::min({all.next + engine_.lookahead_, all.horizon, limit});
    if (all.next < until) {
      run_window(until);
      reach(until);
      idle_rounds_ = 0;
    } else {
      reach(std::max(floor, std::min(all.horizon, limit)));
      if (busy || all.busy) {
        idle_rounds_ = 0;
      } else {
        engine_.clock_.idle(first, ++idle_rounds_, wake_);
      }
    }
  }
}

}  // namespace softspine::dataplane
