// SPDX-License-Identifier: Apache-2.0
// The PFC frames that a host's port sends: which priorities its peer must not send, and when to say so again.
//
//   want(mask)   XOFF at once for each priority that is new in the mask, XON at once for each that has left it
//   refresh      all of the mask again, every half of the longest pause: 0xFFFF quanta / 2 after the last frame
//   forget()     says nothing any more, not even XON: a pause ends when its time runs out, as after a NIC's reset
//
// Half the pause: one frame may be lost, or wait for the longest frame at any rate, and the pause does not lapse.
// One frame carries all that has changed. Counter: frames, per priority named.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/packet/pfc.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class PauseSource {
 public:
  void want(uint8_t mask, dataplane::Instant now) {
    if (mask == wanted_) return;
    wanted_ = mask;
    due_ = now;
  }
  void forget() {
    wanted_ = told_ = 0;
    due_ = dataplane::Instant::never();
  }

  uint8_t wanted() const { return wanted_; }
  dataplane::Instant due() const { return due_; }
  // The frame that is due and leaves at `now`, on a link whose quantum lasts `quantum`.
  dataplane::PfcFrame take(dataplane::Instant now, dataplane::Duration quantum) {
    dataplane::PfcFrame frame = dataplane::PfcFrame::of(wanted_, dataplane::pfc::kLongest);
    frame.enable = static_cast<uint8_t>(wanted_ | told_);
    for (size_t i = 0; i < frames_.size(); ++i) frames_[i] += frame.enable >> i & 1U;
    told_ = wanted_;
    due_ = wanted_ == 0 ? dataplane::Instant::never() : now + quantum * (dataplane::pfc::kLongest / 2);
    return frame;
  }
  const std::array<uint64_t, dataplane::kPriorities>& frames() const { return frames_; }

 private:
  std::array<uint64_t, dataplane::kPriorities> frames_{};
  dataplane::Instant due_ = dataplane::Instant::never();
  uint8_t wanted_ = 0;
  uint8_t told_ = 0;  // by the last frame
};

}  // namespace softspine::testbeds
