// SPDX-License-Identifier: Apache-2.0
// When a flow may send its next frame, at a rate that is configured, or set by a congestion control, or both.
//
// A leaky bucket: a frame puts its bits in, the rate lets them out, and the next frame may go when it is empty.
//   rate = min(configured, the control's)               changes with every event of the control, and by time
// The limiter is exact: the bucket's content is kept in bits × 10^12, of which r leave in a picosecond at r bit/s,
// and each stretch between two changes of the rate counts at its own rate. A flow that did not send when it could
// (the port served others, it was paused, it had nothing to send) may catch up by at most `kCreditBytes`: the mean
// rate is exact as long as each wait is shorter than `kCreditBytes` last at that rate. Bytes are those on the wire
// (frame and kWireOverheadBytes), as a link's rate counts them. A flow that neither has a configured rate nor is
// limited by its congestion control is neither delayed nor accounted.
// Invariant: `now` never goes back between calls.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/congestion/congestion_control.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class RateLimiter {
 public:
  static constexpr uint32_t kCreditBytes = 16'384;

  // `configured` may be zero: none. `packet_bytes`: the payload of a whole packet.
  RateLimiter(Rate configured, const CongestionParameters& congestion, Rate line,
              uint32_t packet_bytes = CongestionControl::kUsualPacketBytes)
      : configured_(configured.is_zero() ? kNoLimit : configured.count_bps()),
        control_(congestion, line, packet_bytes) {}

  // Whether any rate limits the flow now.
  bool limits() const { return rate_bps() != kNoLimit; }
  // `now` if a frame may go; else when to ask again: when the bucket is empty at the present rate, or when the rate
  // changes.
  Instant eligible(Instant now) noexcept {
    if (!limits()) return now;
    advance(now);
    if (held_ <= 0 || !limits()) return now;
    const uint64_t rate = rate_bps();
    const Instant empty = now + Duration::ps(static_cast<int64_t>((static_cast<uint64_t>(held_) + rate - 1) / rate));
    return std::min(empty, control_.next_change());
  }
  // A frame of `bytes` on the wire began at `now`.
  void sent(Instant now, uint32_t bytes) noexcept {
    if (limits()) {
      advance(now);
      if (limits()) held_ += static_cast<int64_t>(bytes) * kPerByte;
    }
    control_.on_sent(now, bytes);
  }
  // Events for the congestion control; without one they change nothing.
  void on_ack(Instant now, const Acknowledgement& ack) noexcept {
    advance(now);
    control_.on_ack(now, ack);
  }
  void on_nak(Instant now) noexcept {
    advance(now);
    control_.on_nak(now);
  }
  void on_cnp(Instant now) noexcept {
    advance(now);
    control_.on_cnp(now);
  }
  void on_timeout(Instant now) noexcept {
    advance(now);
    control_.on_timeout(now);
  }

  const CongestionControl& control() const { return control_; }

 private:
  static constexpr int64_t kPerByte = 8'000'000'000'000;
  static constexpr int64_t kCreditLimit = kCreditBytes * kPerByte;

  static constexpr uint64_t kNoLimit = CongestionControl::kNoLimit;

  uint64_t rate_bps() const { return std::min(configured_, control_.rate_bps()); }
  void advance(Instant now) noexcept {
    while (control_.next_change() <= now) {
      const Instant change = control_.next_change();
      drain_until(change);
      control_.advance(change);
    }
    drain_until(now);
  }
  void drain_until(Instant now) noexcept {
    if (!limits()) {
      held_ = 0;
    } else {
      const Uint128 out = static_cast<Uint128>(rate_bps()) * static_cast<uint64_t>((now - counted_at_).count_ps());
      const auto most = static_cast<uint64_t>(held_ + kCreditLimit);
      held_ = out >= most ? -kCreditLimit : held_ - static_cast<int64_t>(static_cast<uint64_t>(out));
    }
    counted_at_ = now;
  }

  uint64_t configured_;
  int64_t held_ = 0;  // bits × 10^12; below zero: credit
  Instant counted_at_;
  CongestionControl control_;  // last: what a packet touches comes first in it
};

}  // namespace softspine::dataplane
