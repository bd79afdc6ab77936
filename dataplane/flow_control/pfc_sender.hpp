// SPDX-License-Identifier: Apache-2.0
// The PFC frames that one port owes its neighbour. They are kept as a state, not as a queue of frames: changes gather
// while the wire is busy, and the frame carries the state of the instant when it begins.
//
//   raise_xoff   a frame is owed at once, which names the priority with time 0xFFFF
//   clear_xoff   a frame is owed at once, which names the priority with time 0; none is owed if no frame has
//                announced the XOFF yet
//   refresh      while any XOFF is raised: half of 0xFFFF quanta after the last frame. The frame may then wait for one
//                frame on the wire and even be lost once, and no pause lapses
//   frame        names every priority whose XOFF is raised, and each that was cleared since the last frame
//   forget       no frame is owed any more, not even an XON: the neighbour's pauses end when their time runs out,
//                as after a NIC's reset
//   restart      while the link is down no frame is owed. When it comes up the neighbour has forgotten all
//                pauses, and every XOFF that is raised is announced again
// Source: 802.1Qbb. Invariant: a frame that is due names a priority. Counter: frames by priority named.
// Cost: nothing while nothing is raised.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/packet/pfc.hpp"
#include "dataplane/packet/remark.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class PfcSender {
 public:
  void raise_xoff(uint8_t priorities, Instant now) noexcept {
    if (priorities == 0) return;
    fresh_ |= static_cast<uint8_t>(priorities & ~raised_);
    raised_ |= priorities;
    announce(priorities, now);
  }
  void clear_xoff(uint8_t priorities, Instant now) noexcept {
    priorities &= raised_;
    if (priorities == 0) return;
    raised_ &= static_cast<uint8_t>(~priorities);
    fresh_ &= raised_;
    announce(priorities & announced_, now);
    pending_ &= raised_ | announced_;
    if (raised_ == 0) refresh_at_ = Instant::never();
  }
  void forget() noexcept {
    raised_ = announced_ = pending_ = fresh_ = 0;
    refresh_at_ = Instant::never();
  }
  void restart(bool up, Instant now) noexcept {
    up_ = up;
    announced_ = 0;
    pending_ = 0;
    refresh_at_ = Instant::never();
    announce(raised_, now);
  }

  // Priorities that the neighbour is to stop.
  uint8_t raised() const { return raised_; }
  // From when on a frame is to be sent; never() if none is.
  Instant due() const {
    if (!up_) return Instant::never();
    return pending_ != 0 ? std::min(pending_since_, refresh_at_) : refresh_at_;
  }
  // The remark that captures show beside the next frame.
  Remark remark() const {
    if ((fresh_ & raised_) != 0) return Remark::kXoff;
    return (pending_ & ~raised_) != 0 ? Remark::kXon : Remark::kXoffAgain;
  }
  PfcFrame make(Instant now, Duration quantum) noexcept {
    PfcFrame frame = PfcFrame::of(raised_, pfc::kMaxQuanta);
    frame.enable |= pending_;
    for (uint32_t i = 0; i < kPriorities; ++i) frames_[i] += frame.enable >> i & 1U;
    announced_ = raised_;
    pending_ = 0;
    fresh_ = 0;
    refresh_at_ = raised_ == 0 ? Instant::never() : now + quantum * (pfc::kMaxQuanta / 2);
    return frame;
  }
  uint64_t frames(Priority priority) const { return frames_[priority.value()]; }

 private:
  void announce(uint8_t priorities, Instant now) noexcept {
    if (priorities == 0) return;
    if (pending_ == 0) pending_since_ = now;
    pending_ |= priorities;
  }

  Instant pending_since_;
  Instant refresh_at_ = Instant::never();
  uint8_t raised_ = 0;
  uint8_t announced_ = 0;  // XOFF, by the last frame
  uint8_t pending_ = 0;    // to be named by the next frame
  uint8_t fresh_ = 0;      // raised since the last frame
  bool up_ = true;
  std::array<uint64_t, kPriorities> frames_{};
};

}  // namespace softspine::dataplane
