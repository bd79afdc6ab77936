// SPDX-License-Identifier: Apache-2.0
#include "dataplane/engine/following_clock.hpp"

#include <algorithm>

namespace softspine::dataplane {

void FollowingClock::idle(Instant next, uint32_t round, const Wake& wake) noexcept {
  own_.idle(next.is_never() ? next : next - correction(own_.horizon()), round, wake);
}

void FollowingClock::set(Instant zero, Instant origin) noexcept {
  since_ = followed_ = own_.horizon();
  bounds_.close(since_);
  to_origin_ = origin - zero;
  from_ = to_ = bounds_.ahead() + to_origin_;
}

void FollowingClock::follow() noexcept {
  const Instant now = followed_ = own_.horizon();
  if (!bounds_.close_span(now)) return;
  from_ = correction(now);
  to_ = bounds_.ahead() + to_origin_;
  since_ = now;
}

Duration FollowingClock::correction(Instant own) const noexcept {
  const Duration most = std::max(own - since_, Duration{}) / kSlew;
  return from_ + std::clamp(to_ - from_, Duration{} - most, most);
}

}  // namespace softspine::dataplane
