// SPDX-License-Identifier: Apache-2.0
// What one port has to tell its neighbour about priorities: a state, not a queue of frames. While the wire is
// busy changes gather, and the frame says how things are when it starts.
//
//   frame   names every priority that is stopped (time 0xFFFF) and each that was let go since the last (0)
//   refresh while any is stopped: half of 0xFFFF quanta after the last frame. The frame may then wait for one
//           frame on the wire and even be lost once, and no pause lapses.
// Source: 802.1Qbb. Cost: nothing while nothing is stopped.
#pragma once

#include <cstdint>

#include "dataplane/buffer/pause_timing.hpp"
#include "dataplane/packet/pfc.hpp"
#include "dataplane/packet/remark.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class PfcSender {
 public:
  void stop(uint8_t priorities) noexcept {
    fresh_ |= static_cast<uint8_t>(priorities & ~stopped_);
    stopped_ |= priorities;
    unsaid_ |= priorities;
  }
  void let_go(uint8_t priorities) noexcept {
    priorities &= stopped_;
    stopped_ &= static_cast<uint8_t>(~priorities);
    unsaid_ |= priorities;
  }
  // The neighbour has forgotten, or a refresh is due: says again what is stopped.
  void repeat() noexcept {
    unsaid_ |= stopped_;
    refresh_at_ = Instant::never();
  }
  bool has_news() const { return unsaid_ != 0; }
  uint8_t stopped() const { return stopped_; }
  // What the next frame is about.
  Remark news() const {
    if ((fresh_ & stopped_) != 0) return Remark::kXoff;
    return (unsaid_ & ~stopped_) != 0 ? Remark::kXon : Remark::kXoffAgain;
  }
  Instant refresh_at() const { return refresh_at_; }

  PfcFrame say(Instant now, Duration quantum) noexcept {
    PfcFrame frame = PfcFrame::of(stopped_, pfc::kLongest);
    frame.enable |= unsaid_;
    unsaid_ = 0;
    fresh_ = 0;
    refresh_at_ = stopped_ == 0 ? Instant::never() : now + quantum * (pfc::kLongest / 2);
    return frame;
  }

 private:
  Instant refresh_at_ = Instant::never();
  uint8_t stopped_ = 0;
  uint8_t unsaid_ = 0;
  uint8_t fresh_ = 0;  // stopped since the last frame
};

}  // namespace softspine::dataplane
