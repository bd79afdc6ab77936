// SPDX-License-Identifier: Apache-2.0
// For how long one end of a link has asked the other to pause, by priority. Both ends of a link keep this account, each
// from the frames that it sees, so that each can be checked against the other.
//
//   XOFF (time t > 0) that arrives at r    the priority is asked to pause from r until r + t × quantum; an earlier XOFF
//                                          that still runs is replaced, longer or shorter
//   XON (time 0) that arrives at r         the request ends at r
//   link down or new at r                  every request ends at r
//
// Instants are those at which the frame's last bit arrives at the station that is to pause: the receiver's own, and at
// the sender the end of its transmission plus the propagation. So both accounts agree to the picosecond at any instant
// at which no PFC frame is under way, lost or damaged. While one is under way the sender's is ahead by what the frame
// will change.
// Unlike PauseState, it takes no account of the response time, of priorities that do not obey, or of a watchdog: it
// is what was asked, not what was done.
// Cost: eight priorities per PFC frame; nothing otherwise. No memory, no timers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/flow_control/pause_observer.hpp"
#include "dataplane/packet/pfc.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class PauseRequests {
 public:
  void apply(const PfcFrame& frame, Instant at, Duration quantum) noexcept {
    ++changes_;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if ((frame.enable >> i & 1) == 0) continue;
      Request& request = requests_[i];
      if (request.until < at || frame.quanta[i] == 0) end(i, at);
      if (frame.quanta[i] == 0) continue;
      if (request.since.is_never()) request.since = at;
      request.until = at + quantum * frame.quanta[i];
    }
  }
  void clear(Instant now) noexcept {
    ++changes_;
    for (size_t i = 0; i < requests_.size(); ++i) end(i, now);
  }
  // By `now`, a request that still runs included.
  Duration time(Priority priority, Instant now) const noexcept {
    const Request& request = requests_[priority.value()];
    return request.total + request.lasted(now);
  }
  // Whether time() of every priority stays the same until another frame comes.
  bool is_over(Instant now) const noexcept {
    return std::ranges::all_of(requests_, [now](const Request& r) { return r.since.is_never() || r.until <= now; });
  }
  // The request that runs, or whose end nobody has seen yet; empty: none.
  PauseSpan request(Priority priority) const noexcept {
    const Request& request = requests_[priority.value()];
    return {request.since, request.until};
  }
  // Null: nobody. It outlives this, or is replaced before.
  void observe(PauseObserver* observer) const noexcept { observer_ = observer; }
  // How often anything was applied. While this number stays the same and is_over(), nothing here changes.
  uint64_t changes() const { return changes_; }

 private:
  struct Request {
    Instant since = Instant::never();  // never(): none
    Instant until;
    Duration total;  // of those that have ended

    Duration lasted(Instant now) const {
      const Instant end = std::min(now, until);
      return since < end ? end - since : Duration{};
    }
  };
  void end(size_t priority, Instant at) noexcept {
    Request& request = requests_[priority];
    const Duration lasted = request.lasted(at);
    if (observer_ != nullptr && lasted > Duration{}) [[unlikely]]
      observer_->asked(Priority{static_cast<uint8_t>(priority)}, {request.since, request.since + lasted});
    request.total += lasted;
    request.since = Instant::never();
  }
  std::array<Request, kPriorities> requests_{};
  uint64_t changes_ = 0;
  mutable PauseObserver* observer_ = nullptr;  // changes nothing here
};

}  // namespace softspine::dataplane
