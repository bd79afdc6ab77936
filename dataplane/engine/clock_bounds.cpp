// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/clock_bounds.hpp"

namespace softspine::dataplane {

bool ClockBounds::close_span(Instant now) noexcept {
  if (now - began_ < span_) return false;
  close(now);
  return true;
}

// Clocks that drift may cross the bounds of a span: then it is in the middle, and nothing is learnt about the ways.
void ClockBounds::close(Instant now) noexcept {
  began_ = now;
  const bool has_both = lower_ != kNoLower && upper_ != kNoUpper;
  if (has_both) {
    const Duration distance = upper_ - lower_;
    if (distance.count_ps() >= 0) least_ = std::min(least_, distance);
    const Duration low = lower_ + least_ / 2;
    const Duration high = upper_ - least_ / 2;
    const bool is_open = is_known_ && low <= high;
    ahead_ = is_open ? std::clamp(ahead_, low, high) : lower_ + distance / 2;
    is_known_ = true;
  }
  lower_ = kNoLower;
  upper_ = kNoUpper;
}

}  // namespace softspine::dataplane
