// SPDX-License-Identifier: Apache-2.0
// The wall clock: emulated time = TSC time / dilation.
// Reads the TSC (calibrated once against CLOCK_MONOTONIC_RAW), since a window can be a microsecond.
//
// Idling: the first rounds spin (kSpinRounds), then each sleeps, doubling from kFirstSleepNs up to `max_sleep`, never
// past the next known event. A busy fabric never sleeps; an idle one costs a few per cent of a core at the default
// 200 µs.
#pragma once

#include <cstdint>

#include "dataplane/engine/clock.hpp"

namespace softspine::dataplane {

class WallClock final : public Clock {
 public:
  struct Config {
    int64_t dilation = 1;                    // ≥ 1: the fabric runs this many times slower
    Duration max_sleep = Duration::us(200);  // wall time; 0 = never sleep
  };
  explicit WallClock(Config config);

  Instant horizon() noexcept override;
  void idle(Instant next, uint32_t round) noexcept override;
  bool is_wall() const noexcept override { return true; }
  void start(Instant origin) noexcept override;

  int64_t dilation() const { return config_.dilation; }

 private:
  static constexpr uint32_t kSpinRounds = 200;
  static constexpr int64_t kFirstSleepNs = 5'000;

  Config config_;
  uint64_t tsc_origin_ = 0;
  Instant origin_;
  double ps_per_tick_ = 0;  // emulated picoseconds
};

}  // namespace softspine::dataplane
