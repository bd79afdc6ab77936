// SPDX-License-Identifier: Apache-2.0
// The clock of one of several ranks: its own, corrected so that it shows what rank 0's shows (clock_bounds.hpp). Rank
// 0's has nothing to follow.
//
// It is set once, before the first window. Afterwards it is never put forward or back: what it is wrong by is made up
// for at one part in kSlew of the time that passes, so that it goes on at 99 to 101 % of its rate. Own clocks are some
// parts in a million apart; more comes only from a machine that was moved.
//
// Its correction changes while the workers of its rank wait for each other, and is read by all of them.
#pragma once

#include "dataplane/engine/clock.hpp"
#include "dataplane/engine/clock_bounds.hpp"

namespace softspine::dataplane {

class FollowingClock final : public Clock {
 public:
  static constexpr int64_t kSlew = 100;

  // `own` outlives it. `span`: of the bounds, by the own clock.
  FollowingClock(Clock& own, Duration span) : own_(own), bounds_(span) {}

  Instant horizon() noexcept override {
    const Instant now = own_.horizon();
    return now + correction(now);
  }
  void idle(Instant next, uint32_t round, const Wake& wake) noexcept override;
  bool is_wall() const noexcept override { return own_.is_wall(); }
  void start(Instant origin) noexcept override {
    own_.start(origin);
    bounds_.begin(own_.horizon());
  }

  // What the own clock shows. The instants of all below are by own clocks.
  Instant own() noexcept { return own_.horizon(); }
  // Lots that rank 0 has sent, and that it had from us.
  void see_theirs(Instant sent, Instant came) noexcept { bounds_.see_theirs(sent, came); }
  void see_ours(Instant sent, Instant came) noexcept { bounds_.see_ours(sent, came); }
  // Before the first window, by all ranks: from now on it shows `origin` when rank 0's own clock shows `zero`.
  void set(Instant zero, Instant origin) noexcept;
  // Now and then: goes after what has been seen.
  void follow() noexcept;

  // How far this clock may have been from rank 0's at the last follow(), at most. Rank 0's own: zero.
  Duration uncertainty() const noexcept { return bounds_.error_of(correction(followed_) - to_origin_, followed_); }

 private:
  Duration correction(Instant own) const noexcept;

  Clock& own_;
  ClockBounds bounds_;
  Duration to_origin_;  // from rank 0's own clock to what is shown
  Duration from_;       // the correction at `since_`, and what it goes to
  Duration to_;
  Instant since_;
  Instant followed_;  // the last follow()
};

}  // namespace softspine::dataplane
