// SPDX-License-Identifier: Apache-2.0
// When a flow may send its next frame, at a rate that is configured, or set by a reaction point, or both.
//
// A leaky bucket: a frame puts its bits in, the rate lets them out, and the next frame may go when it is empty.
//   rate = min(configured, RC)                          changes at a timer, a CNP, a full byte counter
// It is exact: what is in the bucket is kept in bits × 10^12, a picosecond at r bit/s lets out r of them, and
// each stretch between two changes of the rate counts with its own.
// Who did not send when it could (the port served others, it was paused, it had nothing) may make up for it, by what
// `kCreditBytes` hold: the mean rate is exact as long as waits are shorter than they last at it.
// Bytes are those on the wire (frame and kWireOverheadBytes), as a link's rate counts them.
// A flow that neither has a configured rate nor is limited by its reaction point is not held up, nor accounted.
// Invariant: `now` never goes back between calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "dataplane/congestion/reaction_point.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class RateLimiter {
 public:
  static constexpr uint32_t kCreditBytes = 16'384;

  // `configured` may be zero: none.
  RateLimiter(Rate configured, const std::optional<ReactionParameters>& reaction, Rate line)
      : configured_(configured.count_bps()) {
    if (reaction) reaction_.emplace(*reaction, line);
  }

  // `now` if a frame may go; else when to ask again: when the bucket is empty at today's rate, or when that changes.
  Instant eligible(Instant now) noexcept {
    if (!limits()) return now;
    settle(now);
    if (held_ <= 0 || !limits()) return now;
    const uint64_t rate = rate_bps();
    const Instant empty = now + Duration::ps(static_cast<int64_t>((static_cast<uint64_t>(held_) + rate - 1) / rate));
    return reaction_ ? std::min(empty, reaction_->next_change()) : empty;
  }
  // A frame of `bytes` on the wire began at `now`.
  void sent(Instant now, uint32_t bytes) noexcept {
    if (!limits()) return;
    settle(now);
    if (limits()) held_ += static_cast<int64_t>(bytes) * kPerByte;
    if (reaction_) reaction_->sent(bytes);
  }
  // Without a reaction point it changes nothing.
  void receive_cnp(Instant now) noexcept {
    if (!reaction_) return;
    settle(now);
    reaction_->receive_cnp(now);
  }

  const ReactionPoint* reaction() const { return reaction_ ? &*reaction_ : nullptr; }

 private:
  static constexpr int64_t kPerByte = 8'000'000'000'000;
  static constexpr int64_t kMostCredit = kCreditBytes * kPerByte;

  bool is_reacting() const { return reaction_ && reaction_->is_limited(); }
  bool limits() const { return configured_ != 0 || is_reacting(); }
  uint64_t rate_bps() const {
    if (!is_reacting()) return configured_;
    return configured_ == 0 ? reaction_->rate_bps() : std::min(configured_, reaction_->rate_bps());
  }
  void settle(Instant now) noexcept {
    while (is_reacting() && reaction_->next_change() <= now) {
      const Instant change = reaction_->next_change();
      let_out(change);
      reaction_->advance(change);
    }
    let_out(now);
  }
  void let_out(Instant now) noexcept {
    if (!limits()) {
      held_ = 0;
    } else {
      const Uint128 out = static_cast<Uint128>(rate_bps()) * static_cast<uint64_t>((now - settled_).count_ps());
      const auto most = static_cast<uint64_t>(held_ + kMostCredit);
      held_ = out >= most ? -kMostCredit : held_ - static_cast<int64_t>(static_cast<uint64_t>(out));
    }
    settled_ = now;
  }

  uint64_t configured_;
  std::optional<ReactionPoint> reaction_;
  int64_t held_ = 0;  // bits × 10^12; below zero: credit
  Instant settled_;
};

}  // namespace softspine::dataplane
