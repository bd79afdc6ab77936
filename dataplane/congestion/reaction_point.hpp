// SPDX-License-Identifier: Apache-2.0
// DCQCN's reaction point: the rate of one flow, by the CNPs that reach its sender, by time, and by what it sends.
//
//   RC current rate, RT target rate, α estimate of the congestion, T and B events since the last cut, F threshold
//
//   CNP            RT ← RC;  RC ← RC (1 − α/2);  α ← (1 − g) α + g;  T = B = 0, both counters and the α timer restart
//   α period       without a CNP: α ← (1 − g) α
//   time reset     T ← T + 1, then increase
//   byte reset     B ← B + 1, then increase                               counts the bytes of frames sent
//   increase       max(T, B) ≤ F     fast recovery
//                  min(T, B) > F     hyper:     RT ← RT + (min(T, B) − F) × R_HAI
//                  else              additive:  RT ← RT + R_AI
//                  each then         RC ← (RT + RC) / 2                   so F events are fast recovery
//   RT, RC ≤ line. When RC is line rate again the flow is not limited, and neither counter runs until the next CNP.
//
// An adapter differs in three things, each a parameter: it cuts at most once a `cut_period` (CNPs in between only
// count for α); a cut takes at most `most_cut_percent` of RC; and RT follows RC down only if RC has grown since the
// last cut: by the byte counter, or by time if `clamps_target_after_time`. (`clamps_target`: always; the paper.)
//
// Numbers. Rates in bit/s. α in 2^-20. Rounded down: α (1 − g), g, the cut RC α/2; rounded up: (RT + RC) / 2, so
// that RC reaches RT. Time is exact: what is due by `now` is made up for in order when somebody asks, and changes
// nothing but what a timer would have changed; an idle flow costs nothing. At one instant timers come before CNPs.
//
// Sources: Zhu et al. (SIGCOMM 2015), sections 3.1 and 5.2; NVIDIA's documentation of the DCQCN parameters of
// ConnectX adapters. The paper gives no R_HAI: ten times R_AI, as QCN has it.
// Invariant: min ≤ RC ≤ RT ≤ line.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

struct ReactionParameters {
  static constexpr uint32_t kAlphaOne = 1U << 20;

  uint32_t gain = 1;  // g = gain / gain_of
  uint32_t gain_of = 256;
  uint32_t initial_alpha = kAlphaOne;
  Duration alpha_period = Duration::us(55);
  Duration time_reset = Duration::us(55);
  uint64_t byte_reset = 10'000'000;
  uint32_t threshold = 5;
  Rate additive = Rate::mbps(40);
  Rate hyper = Rate::mbps(400);
  Rate min = Rate::mbps(1);
  uint32_t most_cut_percent = 100;
  Duration cut_period;
  bool clamps_target = true;
  bool clamps_target_after_time = true;

  static constexpr ReactionParameters paper() { return {}; }
  // RPG_TIME_RESET 300 µs, RPG_BYTE_RESET 32767 × 64 B, RPG_THRESHOLD 1, RPG_AI_RATE 5, RPG_HAI_RATE 50 (Mb/s),
  // RPG_GD 11 (the cut is α/2), RPG_MIN_DEC_FAC 50, RPG_MIN_RATE 1, DCE_TCP_G 1019/1024, DCE_TCP_RTT 1 µs,
  // RATE_REDUCE_MONITOR_PERIOD 4 µs, INITIAL_ALPHA 1023, CLAMP_TGT_RATE 0, CLAMP_TGT_RATE_AFTER_TIME_INC 1.
  static constexpr ReactionParameters connectx() {
    return {.gain = 5,
            .gain_of = 1024,
            .initial_alpha = 1023U << 10,
            .alpha_period = Duration::us(1),
            .time_reset = Duration::us(300),
            .byte_reset = uint64_t{32'767} * 64,
            .threshold = 1,
            .additive = Rate::mbps(5),
            .hyper = Rate::mbps(50),
            .min = Rate::mbps(1),
            .most_cut_percent = 50,
            .cut_period = Duration::us(4),
            .clamps_target = false,
            .clamps_target_after_time = true};
  }
};

class ReactionPoint {
 public:
  ReactionPoint(const ReactionParameters& parameters, Rate line)
      : parameters_(parameters),
        line_(line.count_bps()),
        current_(line_),
        target_(line_),
        alpha_(parameters.initial_alpha) {}

  bool is_limited() const { return is_limited_; }
  uint64_t rate_bps() const { return current_; }
  uint64_t target_bps() const { return target_; }
  uint32_t alpha() const { return alpha_; }  // as of the last CNP: in between it decays unseen
  // When the rate changes by itself; never() while it is not limited.
  Instant next_change() const { return is_limited_ ? timer_ : Instant::never(); }

  // All that time has changed by `now`.
  void advance(Instant now) noexcept {
    while (is_limited_ && timer_ <= now) {
      timer_ = timer_ + parameters_.time_reset;
      ++timed_;
      increase();
    }
  }
  // After advance(now).
  void receive_cnp(Instant now) noexcept {
    decay(now);
    if (now >= next_cut_) cut(now);
    const auto gain =
        static_cast<uint32_t>(uint64_t{ReactionParameters::kAlphaOne} * parameters_.gain / parameters_.gain_of);
    alpha_ = std::min(kept(alpha_) + gain, ReactionParameters::kAlphaOne);
    alpha_due_ = now + parameters_.alpha_period;
  }
  // A frame was sent. After advance(now).
  void sent(uint32_t bytes) noexcept {
    if (!is_limited_) return;
    counted_ += bytes;
    while (is_limited_ && counted_ >= parameters_.byte_reset) {
      counted_ -= parameters_.byte_reset;
      ++filled_;
      increase();
    }
  }

 private:
  // ⌊ α (1 − g) ⌋
  uint32_t kept(uint32_t alpha) const {
    return static_cast<uint32_t>(uint64_t{alpha} * (parameters_.gain_of - parameters_.gain) / parameters_.gain_of);
  }
  void decay(Instant now) noexcept {
    while (alpha_due_ <= now && alpha_ > 0) {
      alpha_ = kept(alpha_);
      alpha_due_ = alpha_due_ + parameters_.alpha_period;
    }
  }
  void cut(Instant now) noexcept {
    const bool has_grown = filled_ > 0 || (parameters_.clamps_target_after_time && timed_ > 0);
    if (parameters_.clamps_target || has_grown || !is_limited_) target_ = current_;
    const auto wanted =
        static_cast<uint64_t>(Uint128{current_} * alpha_ / (Uint128{2} * ReactionParameters::kAlphaOne));
    const uint64_t most = current_ * parameters_.most_cut_percent / 100;
    current_ = std::max(current_ - std::min(wanted, most), std::min(parameters_.min.count_bps(), line_));
    timed_ = filled_ = 0;
    counted_ = 0;
    timer_ = now + parameters_.time_reset;
    next_cut_ = now + parameters_.cut_period;
    is_limited_ = current_ < line_;
  }
  void increase() noexcept {
    const uint64_t most = std::max(timed_, filled_);
    const uint64_t least = std::min(timed_, filled_);
    const uint64_t threshold = parameters_.threshold;
    if (least > threshold) {
      target_ += (least - threshold) * parameters_.hyper.count_bps();
    } else if (most > threshold) {
      target_ += parameters_.additive.count_bps();
    }
    target_ = std::min(target_, line_);
    current_ = (target_ + current_ + 1) / 2;
    is_limited_ = current_ < line_;
  }

  ReactionParameters parameters_;
  uint64_t line_;
  uint64_t current_;
  uint64_t target_;
  uint32_t alpha_;
  bool is_limited_ = false;
  uint64_t timed_ = 0;    // T
  uint64_t filled_ = 0;   // B
  uint64_t counted_ = 0;  // bytes of the byte counter
  Instant timer_;
  Instant alpha_due_ = Instant::never();
  Instant next_cut_;
};

}  // namespace softspine::dataplane
