// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/clock_bounds.hpp"

namespace softspine::dataplane {

namespace {

Duration distance_between(Duration a, Duration b) {
  return std::max(a - b, b - a);
}

}  // namespace

bool ClockBounds::close_span(Instant now) noexcept {
  if (now - began_ < span_) return false;
  close(now);
  return true;
}

// Clocks that drift may cross the bounds of a span: then it is in the middle, and nothing is learnt about the ways.
void ClockBounds::close(Instant now) noexcept {
  const bool has_both = lower_ != kNoLower && upper_ != kNoUpper;
  if (has_both) {
    held_lower_ = lower_;
    held_upper_ = upper_;
    held_since_ = began_;
    const Duration distance = upper_ - lower_;
    if (distance.count_ps() >= 0) least_ = std::min(least_, distance);
    const Duration low = lower_ + least_ / 2;
    const Duration high = upper_ - least_ / 2;
    const bool is_open = is_known_ && low <= high;
    ahead_ = is_open ? std::clamp(ahead_, low, high) : lower_ + distance / 2;
    is_known_ = true;
  }
  began_ = now;
  lower_ = kNoLower;
  upper_ = kNoUpper;
}

// Bounds that cross hold as well, with the drift.
Duration ClockBounds::error_of(Duration ahead, Instant now) const noexcept {
  if (!is_known_) return {};
  const Duration drift = (now - held_since_) / kDriftPart;
  return std::max(distance_between(ahead, held_lower_), distance_between(ahead, held_upper_)) + drift;
}

}  // namespace softspine::dataplane
