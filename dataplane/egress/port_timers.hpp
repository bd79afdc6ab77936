// SPDX-License-Identifier: Apache-2.0
// The timers of a switch's egress: one for each port, then one for its watchdogs. The earliest timer goes off first.
// At one instant the port with the smaller number goes first, and the watchdogs last.
//
// Setting a timer again moves it, which costs a search of all running timers, or nothing if its instant is the same.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/units/timed_heap.hpp"

namespace softspine::dataplane {

class PortTimers {
 public:
  explicit PortTimers(uint32_t ports) : set_to_(ports + 1, Instant::never()) { heap_.reserve(ports + 1); }

  // The number of the timer behind the ports.
  uint32_t watchdogs() const { return static_cast<uint32_t>(set_to_.size()) - 1; }
  // never(): it does not run.
  void set(uint32_t timer, Instant at) noexcept {
    if (at == set_to_[timer]) return;
    if (!set_to_[timer].is_never()) heap_.remove(timer);
    set_to_[timer] = at;
    if (!at.is_never()) heap_.push(at, timer);
  }
  // When the first goes off; never() if none runs.
  Instant next() const { return heap_.next(); }
  // The first, which no longer runs. Needs one.
  uint32_t take() noexcept {
    const uint32_t first = heap_.top_id();
    heap_.pop();
    set_to_[first] = Instant::never();
    return first;
  }

 private:
  TimedHeap heap_;
  std::vector<Instant> set_to_;
};

}  // namespace softspine::dataplane
