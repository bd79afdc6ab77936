// SPDX-License-Identifier: Apache-2.0
// Which priorities one port must not send, by the PFC and PAUSE frames that it has received.
//
//   XOFF (time t > 0) at r    timer:  until   = r + t × quantum          always replaced, longer or shorter
//                             stop:   stop_at = r + response             kept if a pause is pending or in effect
//   XON (time 0) at r         both end at r
//   paused(x)  ⇔  stop_at ≤ x < until
//   stopped(x) ⇔  paused(x), not overruled, and no frame of the priority is leaving at x
//
// A frame that had begun before stop_at still leaves: the priority stands still from its end on. No frame begins while
// the pause is in effect, so the last one that had begun by then decides.
// The port is as hard on its peer as the standard allows: it stops as late as it may (the last instant at which a frame
// may still begin), and goes on as early as it may (its timer runs from the PFC frame's last bit). A peer whose
// headroom and refresh suffice here has enough of both with any station that keeps the standard.
// Two consequences:
//   - t × quantum ≤ response never stops anything: the timer is over before the station has reacted.
//   - A refresh has to arrive before `until`. One that arrives later begins a new pause, and during its response time
//     frames may begin.
// Classic PAUSE (opcode 0x0001) is an XOFF or XON of all eight priorities.
//
// Sources: 802.1Qbb (802.1Q clause 36), 802.3 annex 31B and 31D; times by pause_timing.hpp.
// Invariant: `now` never goes back between calls; what is due at an instant happens before what arrives at it.
// Counters, per priority: rx_frames (PFC frames that name it), on_to_off (pauses in effect that ended), paused (their
// time), stopped (of it, what the priority stood still). Cost: two stores per frame sent, eight priorities per frame
// received and per change; one comparison otherwise. No memory, no timers of its own.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/flow_control/pause_observer.hpp"
#include "dataplane/packet/pfc.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class PauseState {
 public:
  // A frame whose last bit came in at `now`. `response` may be zero: a station that obeys at once; or
  // Duration::max(): one that never does, and only counts.
  void receive(const PfcFrame& frame, Instant now, Duration quantum, Duration response) noexcept;
  // The link is down or new: all that is pending or in effect ends.
  void clear(Instant now) noexcept;
  // Suspended pauses are not in effect, but their timers run on; resume() puts what is left of them into effect again.
  void suspend(uint8_t priorities, Instant now) noexcept;
  void resume(uint8_t priorities, Instant now) noexcept;
  // Pauses of exactly these priorities are in effect, and block nothing.
  void overrule(uint8_t priorities, Instant now) noexcept;
  // A frame of these priorities is leaving, or has left, at `left`; it has begun later than all others that were
  // reported.
  void leaves(uint8_t priorities, Instant left) noexcept {
    leaving_ = priorities;
    left_ = left;
  }

  // Applies what is due at `now` and before; returns the paused priorities (bit n = priority n).
  uint8_t advance(Instant now) noexcept {
    if (now >= next_change_) [[unlikely]]
      apply(now);
    return mask_;
  }
  // The priorities that were paused when changes were last applied.
  uint8_t mask() const { return mask_; }
  // The paused priorities at `now`, without applying anything: for reports. `now` is not before that of the last call.
  uint8_t paused(Instant now) const noexcept { return now < next_change_ ? mask_ : mask_at(now); }
  // The earliest instant, after what has been applied, at which the mask changes; never() if none is due.
  Instant next_change() const { return next_change_; }

  uint64_t rx_frames(Priority priority) const { return accounts_[priority.value()].rx_frames; }
  uint64_t on_to_off(Priority priority) const { return accounts_[priority.value()].on_to_off; }
  // Time spent paused by `now`, a pause in effect included.
  Duration paused_time(Priority priority, Instant now) const noexcept;
  // The part of it for which the priority has stood still.
  Duration stopped_time(Priority priority, Instant now) const noexcept;
  // For which the priority stands still, or will, unless a frame or a call comes before; empty: it does not. After its
  // end the observer is told of the same span, if it is not told before.
  PauseSpan standing_still(Priority priority) const noexcept {
    const size_t i = priority.value();
    if (accounts_[i].idle()) return {};
    return {stands_from(i), accounts_[i].until};
  }
  // Null: nobody. It outlives this, or is replaced before.
  void observe(PauseObserver* observer) const noexcept { observer_ = observer; }

 private:
  struct Account {
    Instant stop_at = Instant::never();  // never(): nothing pending or in effect
    Instant until;
    uint64_t rx_frames = 0;
    uint64_t on_to_off = 0;
    Duration paused;
    Duration stopped;
    Instant stands_from;  // of a pause in the mask: when it began to stand still; never(): it is overruled

    bool idle() const { return stop_at.is_never(); }
    bool stops(Instant now) const { return stop_at <= now && now < until; }
  };

  void end(size_t priority, Instant at) noexcept;
  void stood_still(size_t priority, Instant from, Instant to) noexcept;
  Instant last_left(size_t priority) const noexcept { return (leaving_ >> priority & 1) != 0 ? left_ : Instant{}; }
  Instant stands_from(size_t priority) const noexcept;
  void apply(Instant now) noexcept;
  void update(Instant now) noexcept;
  uint8_t mask_at(Instant now) const noexcept;

  Instant next_change_ = Instant::never();  // these first: all that a packet reads and writes
  uint8_t mask_ = 0;
  uint8_t leaving_ = 0;  // priorities of the last frame that has begun
  uint8_t overruled_ = 0;
  Instant left_;
  std::array<Account, kPriorities> accounts_{};
  mutable PauseObserver* observer_ = nullptr;  // changes nothing here
};

}  // namespace softspine::dataplane
