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
//                  min(T, B) > F     hyper:     RT ← RT + (min(T, B) − F) × R_HAI     (hai_scales: else RT + R_HAI)
//                  else              additive:  RT ← RT + R_AI
//                  each then         RC ← (RT + RC) / 2                   so F events are fast recovery
//   RT, RC ≤ line. When RC is line rate again the flow is not limited, and neither counter runs until the next CNP.
//
// An adapter differs in three things, each a parameter: it cuts at most once a `rate_reduce_monitor_period` (CNPs in
// between only count for α); a cut takes at most `min_dec_fac` of RC; and RT follows RC down only if RC has grown since
// the last cut: by the byte counter, or by time if `clamp_tgt_rate_after_time_inc`. (`clamp_tgt_rate`: always; the
// paper.) The parameters have the names that ConnectX adapters use, not the paper's letters.
//
// Numbers. Rates in bit/s. α in 2^-20. Rounded down: α (1 − g), g, the cut RC α/2; rounded up: (RT + RC) / 2, so
// that RC reaches RT. Time is exact: timers due by `now` are applied, in order, when the flow is next asked, with the
// result that they would have had on time; an idle flow costs nothing. At one instant timers come before CNPs.
//
// Sources: Zhu et al. (SIGCOMM 2015), sections 3.1 and 5.2; NVIDIA's documentation of the DCQCN parameters of
// ConnectX adapters. The paper gives no R_HAI: ten times R_AI, as QCN has it.
// Invariant: min ≤ RC ≤ RT ≤ line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

#include "dataplane/congestion/congestion_algorithm.hpp"
#include "dataplane/congestion/reaction_parameters.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class ReactionPoint : public CongestionAlgorithm {
 public:
  using Parameters = ReactionParameters;
  static constexpr bool kUsesCnps = true;
  static constexpr std::array kSets{
      ParameterSet<Parameters>{"dcqcn_connectx", "DCQCN with the defaults of a ConnectX adapter.",
                               Parameters::connectx()},
      ParameterSet<Parameters>{"dcqcn_paper", "DCQCN with the parameters of its paper.", Parameters::paper()}};
  // A counter that fills with every frame, or a timer that goes off within one, would be no counter and no timer.
  static constexpr auto kKeys = std::tuple{
      parameter("g", &Parameters::g, "gain of the estimate alpha, dce_tcp_g of an adapter"),
      parameter("initial_alpha", &Parameters::initial_alpha, "the estimate before the first CNP"),
      parameter("alpha_timer", &Parameters::alpha_timer, "after this time without a CNP alpha decays, dce_tcp_rtt",
                Duration::ns(100), Duration::s(1)),
      parameter("time_reset", &Parameters::time_reset, "the timer T: the rate grows each time it goes off",
                Duration::us(1), Duration::s(10)),
      parameter("byte_reset", &Parameters::byte_reset, "the byte counter B: the rate grows each time it is full",
                ByteCount{64}, ByteCount{1ULL << 40}),
      parameter("threshold", &Parameters::threshold, "F: so many events of T or B are fast recovery", 0, 1'000'000),
      parameter("ai_rate", &Parameters::ai_rate, "R_AI, the step of the additive increase", Rate::min(), kTopRate),
      parameter("hai_rate", &Parameters::hai_rate, "R_HAI, the step of the hyper increase", Rate::min(), kTopRate),
      parameter("hai_scales", &Parameters::hai_scales,
                "hyper increase: min(T, B) - F steps at once, as 802.1Qau has it; false: one"),
      parameter("min_rate", &Parameters::min_rate, "no cut goes below it", Rate::min(), kTopRate),
      parameter("min_dec_fac", &Parameters::min_dec_fac, "a cut takes at most this part of the rate"),
      parameter("rate_reduce_monitor_period", &Parameters::rate_reduce_monitor_period, "at most one cut in this time",
                Duration{}, Duration::s(1)),
      parameter("clamp_tgt_rate", &Parameters::clamp_tgt_rate, "the target rate follows every cut"),
      parameter("clamp_tgt_rate_after_time_inc", &Parameters::clamp_tgt_rate_after_time_inc,
                "if not: it follows a cut after an increase by the timer, too"),
      parameter("cnp_interval", &Parameters::cnp_interval,
                "the receiver's: at most one CNP a queue pair in this time, min_time_between_cnps", Duration::ps(1),
                Duration::s(1)),
      parameter("nic_delay", &Parameters::nic_delay,
                "the receiver's: from the arrival of a marked packet until its CNP may leave", Duration{},
                Duration::s(1))};
  static std::optional<ParameterConflict> conflict(const Parameters& it) {
    if (it.hai_rate < it.ai_rate) return ParameterConflict{"hai_rate", "is less than 'ai_rate', the slower increase's"};
    return std::nullopt;
  }

  ReactionPoint(const ReactionParameters& parameters, Rate line)
      : parameters_(parameters),
        line_(line.count_bps()),
        current_(line_),
        target_(line_),
        alpha_(static_cast<uint32_t>(parameters.initial_alpha.floor_of(Parameters::kAlphaOne))) {}

  bool is_limited() const { return is_limited_; }
  uint64_t rate_bps() const { return is_limited_ ? current_ : kNoLimit; }
  uint64_t current_bps() const { return current_; }
  uint64_t target_bps() const { return target_; }
  uint32_t alpha() const { return alpha_; }  // as of the last CNP; its decay since then is applied at the next one
  // When the rate changes by itself; never() while it is not limited.
  Instant next_change() const { return is_limited_ ? timer_ : Instant::never(); }

  // Applies all timers that are due by `now`.
  void advance(Instant now) noexcept {
    while (is_limited_ && timer_ <= now) {
      timer_ = timer_ + parameters_.time_reset;
      ++timed_;
      increase();
    }
  }
  // After advance(now).
  void on_cnp(Instant now) noexcept {
    decay(now);
    if (now >= next_cut_) cut(now);
    const auto gain = static_cast<uint32_t>(parameters_.g.floor_of(Parameters::kAlphaOne));
    alpha_ = std::min(kept(alpha_) + gain, Parameters::kAlphaOne);
    alpha_due_ = now + parameters_.alpha_timer;
  }
  // After advance(now).
  void on_sent(Instant, uint32_t bytes) noexcept {
    if (!is_limited_) return;
    counted_ += bytes;
    while (is_limited_ && counted_ >= parameters_.byte_reset.count) {
      counted_ -= parameters_.byte_reset.count;
      ++filled_;
      increase();
    }
  }

 private:
  // ⌊ α (1 − g) ⌋
  uint32_t kept(uint32_t alpha) const {
    const Fraction& g = parameters_.g;
    return static_cast<uint32_t>(uint64_t{alpha} * (g.whole - g.part) / g.whole);
  }
  void decay(Instant now) noexcept {
    while (alpha_due_ <= now && alpha_ > 0) {
      alpha_ = kept(alpha_);
      alpha_due_ = alpha_due_ + parameters_.alpha_timer;
    }
  }
  void cut(Instant now) noexcept {
    const bool has_grown = filled_ > 0 || (parameters_.clamp_tgt_rate_after_time_inc && timed_ > 0);
    if (parameters_.clamp_tgt_rate || has_grown || !is_limited_) target_ = current_;
    const auto wanted = static_cast<uint64_t>(Uint128{current_} * alpha_ / (Uint128{2} * Parameters::kAlphaOne));
    const uint64_t most = parameters_.min_dec_fac.floor_of(current_);
    current_ = std::max(current_ - std::min(wanted, most), std::min(parameters_.min_rate.count_bps(), line_));
    timed_ = filled_ = 0;
    counted_ = 0;
    timer_ = now + parameters_.time_reset;
    next_cut_ = now + parameters_.rate_reduce_monitor_period;
    is_limited_ = current_ < line_;
  }
  void increase() noexcept {
    const uint64_t most = std::max(timed_, filled_);
    const uint64_t least = std::min(timed_, filled_);
    const uint64_t threshold = parameters_.threshold;
    if (least > threshold) {
      const uint64_t steps = parameters_.hai_scales ? std::min(least - threshold, kStepLimit) : 1;
      target_ += steps * parameters_.hai_rate.count_bps();
    } else if (most > threshold) {
      target_ += parameters_.ai_rate.count_bps();
    }
    target_ = std::min(target_, line_);
    current_ = (target_ + current_ + 1) / 2;
    is_limited_ = current_ < line_;
  }

  // kStepLimit × kTopRate fits into 64 bits, and kStepLimit × the least R_HAI is above the rate of any line.
  static constexpr uint64_t kStepLimit = 4'000'000;

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
