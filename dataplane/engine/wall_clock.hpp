// SPDX-License-Identifier: Apache-2.0
// The wall clock: emulated time = TSC time / dilation.
// Reads the TSC (calibrated once against CLOCK_MONOTONIC_RAW), since a window can be a microsecond.
//
// Idling: the first rounds spin (kSpinRounds), later ones sleep, never past the next known event, and no longer than
// until an edge has news or something was posted. If all edges have descriptors, a sleep may be `max_wait` long.
// Otherwise sleeps double from kFirstSleepNs up to `max_sleep`, and each asks the edges: some
// per cent of a core.
#pragma once

#include <cstdint>

#include "dataplane/engine/clock.hpp"

namespace softspine::dataplane {

class WallClock final : public Clock {
 public:
  struct Config {
    int64_t dilation = 1;                    // ≥ 1: the fabric runs this many times slower
    Duration max_sleep = Duration::us(200);  // wall time; 0 = never sleep
    Duration max_wait = Duration::ms(200);   // wall time, of a worker that every edge wakes
  };
  explicit WallClock(Config config);

  Instant horizon() noexcept override;
  void idle(Instant next, uint32_t round, const Wake& wake) noexcept override;
  bool is_wall() const noexcept override { return true; }
  void start(Instant origin) noexcept override;

  int64_t dilation() const { return config_.dilation; }

 private:
  static constexpr uint32_t kSpinRounds = 200;
  static constexpr int64_t kFirstSleepNs = 5'000;

  int64_t sleep_ns(uint32_t round, const Wake& wake) const noexcept;

  Config config_;
  uint64_t tsc_origin_ = 0;
  Instant origin_;
  double ps_per_tick_ = 0;  // emulated picoseconds
};

}  // namespace softspine::dataplane
