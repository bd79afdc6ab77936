// SPDX-License-Identifier: Apache-2.0
// The barrier at which workers meet between windows. Each worker writes a report into its own slot (no
// read-modify-write, no lock) and waits until all have done so; then all take the same decision from the same
// numbers. A slot has two reports, used in turn, since a fast worker may write its next one while a slow worker still
// reads the last.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct WindowReport {
  Instant next = Instant::never();     // earliest event in my nodes and my outboxes
  Instant horizon = Instant::never();  // how far my clock lets me go
  Instant action = Instant::never();   // worker 0: the next timed action
  bool act = false;                    // worker 0: something was posted
  bool stop = false;                   // worker 0: stop was asked for
  bool busy = false;                   // an edge of mine had or has something to do
};

class WindowBarrier {
 public:
  void resize(uint32_t workers);

  // The `round`-th meeting, from 1: publishes `mine` and returns all reports combined (instants by minimum, flags by
  // OR).
  WindowReport meet(uint32_t worker, uint64_t round, const WindowReport& mine) noexcept {
    return workers_ == 1 ? mine : meet_others(worker, round, mine);
  }

 private:
  WindowReport meet_others(uint32_t worker, uint64_t round, const WindowReport& mine) noexcept;

  struct alignas(64) Slot {
    std::atomic<uint64_t> round{0};
    std::array<WindowReport, 2> reports;
  };
  std::unique_ptr<Slot[]> slots_;
  uint32_t workers_ = 0;
  int spins_before_yield_ = 1;
};

}  // namespace softspine::dataplane
