// SPDX-License-Identifier: Apache-2.0
// A port's timer against an ordered map: whatever is set, moved and taken, the first is the earliest of the smallest
// number.
#include "dataplane/egress/port_timers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <utility>

#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {
namespace {

constexpr uint32_t kPorts = 12;

TEST(PortTimers, AreTakenByInstantThenByPortAndTheWatchdogsLast) {
  PortTimers timers(kPorts);
  timers.set(timers.watchdogs(), Instant::at_ps(5));
  timers.set(7, Instant::at_ps(5));
  timers.set(3, Instant::at_ps(5));
  timers.set(9, Instant::at_ps(4));
  for (const uint32_t expected : {9U, 3U, 7U, timers.watchdogs()}) EXPECT_EQ(timers.take(), expected);
  EXPECT_TRUE(timers.next().is_never());
}

TEST(PortTimers, AgreeWithAnOrderedMapWhateverIsSetMovedAndTaken) {
  Rng rng(20261122, 0);
  PortTimers timers(kPorts);
  std::map<uint32_t, Instant> running;
  const auto first = [&] {
    std::optional<std::pair<Instant, uint32_t>> earliest;
    for (const auto& [timer, at] : running) {
      if (!earliest || std::pair{at, timer} < *earliest) earliest = {at, timer};
    }
    return earliest;
  };
  for (int step = 0; step < 20'000; ++step) {
    const auto timer = static_cast<uint32_t>(rng.below(kPorts + 1));
    if (rng.below(4) == 0 && !running.empty()) {
      ASSERT_EQ(timers.take(), first()->second) << "step " << step;
      running.erase(first()->second);
    } else if (rng.below(5) == 0) {
      timers.set(timer, Instant::never());
      running.erase(timer);
    } else {
      const Instant at = Instant::at_ps(static_cast<int64_t>(rng.below(8)));  // many at one instant
      timers.set(timer, at);
      running[timer] = at;
    }
    ASSERT_EQ(timers.next(), first() ? first()->first : Instant::never()) << "step " << step;
  }
}

}  // namespace
}  // namespace softspine::dataplane
