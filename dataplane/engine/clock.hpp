// SPDX-License-Identifier: Apache-2.0
// A Clock decides up to which instant the fabric may run; wall and virtual time differ in nothing else. No other class
// of the data plane reads the machine's clock.
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

// What ends a worker's sleep before its time. Descriptors stay readable until whoever waits has seen to it.
struct Wake {
  int descriptor = -1;     // becomes readable when an edge has news; -1: there is none
  bool tells_all = false;  // every edge says so when it has news
  int posts = -1;          // becomes readable when control wants something; -1: nobody says so
};

class Clock {
 public:
  virtual ~Clock() = default;
  // Events before this instant may be handled: now on the wall clock, never() on the virtual one, which has no limit.
  virtual Instant horizon() noexcept = 0;
  // Called when no event is due before `next`, for the `round`-th time in a row (from 1). The wall clock backs off,
  // for a time bounded by `next`, `wake` and its own maximum; the virtual clock returns at once.
  virtual void idle(Instant next, uint32_t round, const Wake& wake) noexcept = 0;
  virtual bool is_wall() const noexcept = 0;
  // Starts the time line: horizon() counts from this call on.
  virtual void start(Instant origin) noexcept = 0;
};

class VirtualClock final : public Clock {
 public:
  Instant horizon() noexcept override { return Instant::never(); }
  void idle(Instant, uint32_t, const Wake&) noexcept override {}
  bool is_wall() const noexcept override { return false; }
  void start(Instant) noexcept override {}
};

// A clock that is moved by hand, so that tests of wall-clock behaviour need not wait.
class ManualClock final : public Clock {
 public:
  Instant horizon() noexcept override { return now_; }
  void idle(Instant, uint32_t, const Wake&) noexcept override { ++idle_rounds_; }
  bool is_wall() const noexcept override { return true; }
  void start(Instant) noexcept override {}
  void set(Instant now) { now_ = now; }
  uint64_t idle_rounds() const { return idle_rounds_; }

 private:
  Instant now_;
  uint64_t idle_rounds_ = 0;
};

}  // namespace softspine::dataplane
