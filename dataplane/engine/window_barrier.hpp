// SPDX-License-Identifier: Apache-2.0
// Where workers meet between windows. Each writes only its own slot (no read-modify-write, no lock),
// says what it knows, and waits until all have; then all decide the same from the same numbers.
// Two reports per slot, used in turn: a fast worker may write the next while a slow one still reads.
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
  void resize(uint32_t workers) {
    workers_ = workers;
    slots_ = std::make_unique<Slot[]>(workers);
  }

  // The `round`-th meeting, from 1: publishes mine, returns the sum of all (minimum of instants, or of flags).
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
};

}  // namespace softspine::dataplane
