// SPDX-License-Identifier: Apache-2.0
// Finds a priority of a port that its neighbour keeps paused, as SONiC's PFC watchdog does, poll by poll.
//
//   stuck(poll)    nothing left since the last poll, and
//                    something waits and pause frames came in, or
//                    nothing waits and the priority was paused for more than 0.8 of the time since the last poll
//   storm          stuck in as many polls as make up the detection time
//   restored       as many polls without a pause frame as make up the restoration time
// What is then done is not decided here (WatchdogAction). Times are counted in whole polls, and the poll in which the
// priority is first found stuck, or quiet, counts: so a storm is found within one poll of its detection time, as by
// SONiC. Source: SONiC pfcwd (PfcWdSwOrch, pfc_detect and pfc_restore).
#pragma once

#include <cstdint>

#include "dataplane/egress/port_counters.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

// The counts of one (port, priority) by now.
struct WatchdogSample {
  uint64_t waiting_packets = 0;
  uint64_t sent_packets = 0;
  uint64_t pause_frames = 0;
  Duration paused;
};

enum class WatchdogEvent : uint8_t { kNone, kStorm, kRestored };

class PfcWatchdog {
 public:
  // One poll; `since`: the time since the last poll.
  WatchdogEvent poll(const WatchdogSample& now, Duration since, const WatchdogPlan& plan) noexcept {
    const bool quiet = now.pause_frames == seen_.pause_frames;
    const bool stuck = now.sent_packets == seen_.sent_packets &&
                       (now.waiting_packets > 0 ? !quiet : (now.paused - seen_.paused) * 5 > since * 4);
    seen_ = now;
    const bool goes_on = stormed_ ? quiet : stuck;
    held_ = goes_on ? held_ + since : Duration{};
    if (held_ < (stormed_ ? plan.restoration : plan.detection) || !goes_on) return WatchdogEvent::kNone;
    held_ = Duration{};
    stormed_ = !stormed_;
    ++(stormed_ ? storms_ : restored_);
    return stormed_ ? WatchdogEvent::kStorm : WatchdogEvent::kRestored;
  }
  // The priority is no longer watched as it was: a storm that goes on counts as restored.
  void abandon() noexcept {
    held_ = Duration{};
    stormed_ = false;
    ++restored_;
  }
  // Called where a storm begins and ends, with what had been counted by then.
  void began(const WatchdogTraffic& by_then) noexcept { began_ = by_then; }
  void ended(const WatchdogTraffic& by_then) noexcept {
    last_ = by_then - began_;
    earlier_ = earlier_ + last_;
  }
  // Traffic in the storm in progress or, if there is none, in the last one; then in all storms.
  WatchdogTraffic in_last_storm(const WatchdogTraffic& by_now) const { return stormed_ ? by_now - began_ : last_; }
  WatchdogTraffic in_storms(const WatchdogTraffic& by_now) const {
    return stormed_ ? earlier_ + (by_now - began_) : earlier_;
  }
  bool stormed() const { return stormed_; }
  uint64_t seen_pause_frames() const { return seen_.pause_frames; }  // at the last poll
  uint64_t storms() const { return storms_; }
  uint64_t restored() const { return restored_; }

 private:
  WatchdogSample seen_;
  WatchdogTraffic began_;
  WatchdogTraffic last_;     // of the last storm that has ended
  WatchdogTraffic earlier_;  // of all that have
  Duration held_;            // how long it has been stuck, or quiet
  bool stormed_ = false;
  uint64_t storms_ = 0;
  uint64_t restored_ = 0;
};

}  // namespace softspine::dataplane
