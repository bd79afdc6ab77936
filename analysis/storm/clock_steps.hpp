// SPDX-License-Identifier: Apache-2.0
// Times of a capture's frames, in the order in which they stand there: what to make of it if its clock was set.
//
//   back by more than kLeast      no clock runs backwards by so much: it was set. The frames that follow are put behind
//                                 those before, kLeast later
//   ahead by more than kLeast     by the largest steps, each at least kDwarfs times as large as every other one: the
//                                 clock was set, or nothing was captured for so long. The capture does not show which
//   one frame alone               that is far from the frames before and behind it, which are near each other: its time
//                                 is wrong, and it is left out
//
// Such a time is a silence. The silence is no part of the capture's length.
// Bounds: kMaxStrays frames are left out, and kMaxSteps steps are recognised; a capture with more has no clock that
// can be followed, and its times are taken as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"

namespace softspine::analysis::storm {

struct ClockStep {
  dataplane::Instant at;     // of the last frame before it
  dataplane::Duration by;    // that the clock shows, less than 0: back
  dataplane::Instant until;  // where the time line goes on

  bool is_back() const { return by < dataplane::Duration{}; }
};

class ClockSteps {
 public:
  static constexpr dataplane::Duration kLeast = dataplane::Duration::s(1);
  static constexpr int64_t kDwarfs = 100;
  static constexpr uint64_t kFramesPerStep = 20;  // fewer frames do not show what is usual
  static constexpr uint32_t kMaxStrays = 16;
  static constexpr size_t kMaxSteps = 32;
  // Times of a capture are within 50 days of its origin, and any two of the time line have to be within 106.
  static constexpr dataplane::Duration kMaxShift = dataplane::Duration::s(5LL * 24 * 3600);

  // Whether the time is so far from that of the frame before that it must be compared with the next one's.
  bool is_far(dataplane::Instant at) const {
    return frames_ > 0 && !is_near(previous_, at) && strays_ < kMaxStrays && steps_.size() < kMaxSteps;
  }
  static bool is_near(dataplane::Instant a, dataplane::Instant b) { return a - b <= kLeast && b - a <= kLeast; }
  dataplane::Instant previous() const { return previous_; }
  void leave_out() { ++strays_; }
  // On the time line of all frames. To be called for each that is not left out.
  dataplane::Instant place(dataplane::Instant at);

  // Those that are known to be steps, in their order.
  std::vector<ClockStep> steps() const;

 private:
  uint64_t frames_ = 0;
  uint32_t strays_ = 0;
  dataplane::Instant previous_;  // as the clock showed it
  dataplane::Instant last_;      // on the time line, the latest
  dataplane::Duration shift_;    // from the clock to the time line
  dataplane::Duration usual_;    // the longest time between two frames that is no step
  std::vector<ClockStep> steps_;
};

}  // namespace softspine::analysis::storm
