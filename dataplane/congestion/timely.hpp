// SPDX-License-Identifier: Apache-2.0
// TIMELY: the rate of one flow by the round-trip times of what it sends, without any mark of a switch.
//
//   at each new RTT:   diff ← (1 − α) diff + α (RTT − RTT before it);   gradient = diff / minRTT
//     RTT < T_low      rate ← rate + δ
//     RTT > T_high     rate ← rate (1 − β (1 − T_high / RTT))
//     gradient ≤ 0     rate ← rate + N δ      N = hai_steps from the hai_after-th gradient ≤ 0 in a row on, else 1
//     else             rate ← rate (1 − β gradient)
//   min_rate ≤ rate ≤ line
//   `weighted` (Patched TIMELY) has for the last two rules
//                      rate ← rate (1 − β w (RTT − T_low) / T_low) + δ (1 − w)      w = 2 gradient + 1/2, within 0 … 1
//
// A completion event, as the paper has it, is here an acknowledgement of a packet that asked for one: every `ack_every`
// packets, by default 64 KiB. Its RTT runs from the packet's last bit out to the acknowledgement in, so
// that the sender's own serialisation is left out. The packets of a segment are paced one by one, not sent as a burst.
// A flow begins at `initial_rate` of its line: the paper's C / (N + 1), with N other flows of its host.
//
// Between T_low and T_high the paper's rule has no single fixed point: it is at rest at any rates that fill the link,
// so two flows may keep unequal shares for ever. Patched TIMELY has one fixed point, and it is fair: with N flows on
// a link of capacity C all have the RTT T_low (1 + δ N / (β C)).
//
// Numbers. Rates in bit/s, times in ps. diff is rounded towards zero, what a cut takes and δ (1 − w) are rounded down.
// Source: Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter (SIGCOMM 2015), algorithm 1; values
// the paper leaves open (α, minRTT), and the patch with its β: Zhu et al., ECN or Delay (CoNEXT 2016). Neither names a
// least rate: min_rate is ours.
// Invariant: min(min_rate, line) ≤ rate ≤ line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

#include "dataplane/congestion/congestion_algorithm.hpp"
#include "dataplane/congestion/timely_parameters.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class Timely : public CongestionAlgorithm {
 public:
  using Parameters = TimelyParameters;
  static constexpr bool kUsesAcks = true;
  static constexpr std::array kSets{
      ParameterSet<Parameters>{"timely", "TIMELY with the parameters of its paper: rates by round-trip times.", {}},
      ParameterSet<Parameters>{
          "timely_patched",
          "Patched TIMELY: the same with a rule between t_low and t_high that ends in fair shares.",
          {.beta = {1, 125}, .weighted = true}}};
  static constexpr auto kKeys = std::tuple{
      parameter("alpha", &Parameters::alpha, "weight of a new difference of two RTTs in their moving average"),
      parameter("beta", &Parameters::beta, "how much of the gradient, or of what exceeds t_high, a cut takes"),
      parameter("delta", &Parameters::delta, "the step of the additive increase", Rate::min(), kTopRate),
      parameter("t_low", &Parameters::t_low, "RTTs below it always increase the rate", Duration::ns(100),
                Duration::s(1)),
      parameter("t_high", &Parameters::t_high, "RTTs above it always decrease the rate", Duration::ns(100),
                Duration::s(1)),
      parameter("min_rtt", &Parameters::min_rtt, "what differences of RTTs are divided by, for the gradient",
                Duration::ns(100), Duration::s(1)),
      parameter("hai_after", &Parameters::hai_after, "gradients in a row that are not positive, then hyperactive", 1,
                1'000'000),
      parameter("hai_steps", &Parameters::hai_steps, "N, the steps of a hyperactive increase", 1, 1'000'000),
      parameter("weighted", &Parameters::weighted, "between t_low and t_high: the rule of Patched TIMELY"),
      parameter("initial_rate", &Parameters::initial_rate, "at the start, of the link's rate"),
      parameter("min_rate", &Parameters::min_rate, "no cut goes below it", Rate::min(), kTopRate)};
  static std::optional<ParameterConflict> conflict(const Parameters& it) {
    if (it.t_high <= it.t_low) return ParameterConflict{"t_high", "must exceed 't_low'"};
    return std::nullopt;
  }

  Timely(const Parameters& parameters, Rate line)
      : parameters_(parameters),
        line_(line.count_bps()),
        least_(std::min(parameters.min_rate.count_bps(), line_)),
        rate_(std::max(parameters.initial_rate.floor_of(line_), least_)) {}

  uint64_t rate_bps() const { return rate_; }

  void on_ack(Instant, const Acknowledgement& ack) noexcept {
    if (ack.rtt) complete(ack.rtt->count_ps());
  }

 private:
  __extension__ using Int128 = __int128;

  void complete(int64_t rtt) noexcept {
    const int64_t change = previous_ == 0 ? 0 : rtt - previous_;
    previous_ = rtt;
    const Fraction& a = parameters_.alpha;
    diff_ = static_cast<int64_t>((Int128{diff_} * (a.whole - a.part) + Int128{change} * a.part) / a.whole);
    not_rising_ = diff_ <= 0 ? not_rising_ + 1 : 0;
    const int64_t high = parameters_.t_high.count_ps();
    if (rtt < parameters_.t_low.count_ps()) {
      increase(1);
    } else if (rtt > high) {
      decrease(static_cast<uint64_t>(rtt - high), static_cast<uint64_t>(rtt));
    } else if (parameters_.weighted) {
      weigh(static_cast<uint64_t>(rtt));
    } else if (diff_ <= 0) {
      increase(not_rising_ >= parameters_.hai_after ? parameters_.hai_steps : 1);
    } else {
      decrease(static_cast<uint64_t>(diff_), static_cast<uint64_t>(parameters_.min_rtt.count_ps()));
    }
  }
  void increase(uint64_t steps) noexcept { rate_ = std::min(rate_ + steps * parameters_.delta.count_bps(), line_); }
  // w = part / whole.
  void weigh(uint64_t rtt) noexcept {
    const int64_t whole = 2 * parameters_.min_rtt.count_ps();
    const auto part = static_cast<int64_t>(std::clamp<Int128>(4 * Int128{diff_} + whole / 2, 0, whole));
    const auto low = static_cast<uint64_t>(parameters_.t_low.count_ps());
    const uint64_t step = parameters_.delta.count_bps();
    const auto weighed = static_cast<uint64_t>(Uint128{rate_} * static_cast<uint64_t>(part) / whole);
    const uint64_t cut = parameters_.beta.floor_of(static_cast<uint64_t>(Uint128{weighed} * (rtt - low) / low));
    const uint64_t raised = rate_ + static_cast<uint64_t>(Uint128{step} * static_cast<uint64_t>(whole - part) / whole);
    rate_ = std::clamp(raised - std::min(raised, cut), least_, line_);
  }
  // Decreases the rate by rate × β × excess / of.
  void decrease(uint64_t excess, uint64_t of) noexcept {
    const Uint128 cut = Uint128{rate_} * excess / of * parameters_.beta.part / parameters_.beta.whole;
    rate_ = cut >= rate_ - least_ ? least_ : rate_ - static_cast<uint64_t>(cut);
  }

  Parameters parameters_;
  uint64_t line_;
  uint64_t least_;
  uint64_t rate_;
  int64_t previous_ = 0;  // RTT; 0: none yet
  int64_t diff_ = 0;
  uint64_t not_rising_ = 0;
};

}  // namespace softspine::dataplane
