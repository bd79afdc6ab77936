// SPDX-License-Identifier: Apache-2.0
// How far the fabric may run: the one difference between wall and virtual time.
// Only a clock reads a clock.
#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class Clock {
 public:
  virtual ~Clock() = default;
  // Events before this instant may be handled. wall: now. virtual: never(), so nothing holds it back.
  virtual Instant horizon() noexcept = 0;
  // Nothing to do until `next`; the `round`-th time in a row, from 1. wall: backs off, for a time bounded
  // by `next` and its own maximum. virtual: returns at once.
  virtual void idle(Instant next, uint32_t round) noexcept = 0;
  virtual bool is_wall() const noexcept = 0;
  // Starts the time line: horizon() counts from here.
  virtual void start(Instant origin) noexcept = 0;
};

class VirtualClock final : public Clock {
 public:
  Instant horizon() noexcept override { return Instant::never(); }
  void idle(Instant, uint32_t) noexcept override {}
  bool is_wall() const noexcept override { return false; }
  void start(Instant) noexcept override {}
};

// A clock moved by hand: for tests of what the wall clock would do, without waiting.
class ManualClock final : public Clock {
 public:
  Instant horizon() noexcept override { return now_; }
  void idle(Instant, uint32_t) noexcept override { ++idle_rounds_; }
  bool is_wall() const noexcept override { return true; }
  void start(Instant) noexcept override {}
  void set(Instant now) { now_ = now; }
  uint64_t idle_rounds() const { return idle_rounds_; }

 private:
  Instant now_;
  uint64_t idle_rounds_ = 0;
};

}  // namespace softspine::dataplane
