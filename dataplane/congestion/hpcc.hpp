// SPDX-License-Identifier: Apache-2.0
// HPCC: the rate of one flow by what the links on its way carry, which in-band telemetry tells with each packet.
//
//   of hop j, since the record before:   τ = time,   tx = bytes × 8 / τ,   q = the lesser of both queues
//     u = tx / rate of j + q × 8 / (rate of j × T)                                  T = rtt
//   one rate:     U ← (1 − τ / T) U + τ / T u       of the hop with the greatest u; τ at most T
//     U ≥ η, or max_stage increases in a row:   R = Rc / (U / η) + R_AI,   stage = 0
//     else                                      R = Rc + R_AI,             stage ← stage + 1
//   multi_rate:   U, Rc and stage of each hop; R = the least of their rates
//   once a round trip, with the first acknowledgement of a packet that was sent after the last such change:
//                 Rc ← R; else only R changes, from the same Rc (fast_react; false: nothing changes in between)
//   min_rate ≤ R ≤ line;   window = line × T × R / line of payload
//
// Paper and simulator say the same in two ways: W = R × T, W_AI = R_AI × T. The paper sends by window, paced at W / T;
// the simulator has the rate, and the window in proportion. Here both hold, as there. U and Rc begin at 1 and at line
// rate; the first record is only kept, and so is one with another number of hops than before, as after a change of
// routes. A record of no hop, or of more than five, is not used.
//
// Numbers. U in 2^-24, times in ns, rates in bit/s; all quotients are rounded down.
// Source: Li et al., HPCC: High Precision Congestion Control (SIGCOMM 2019), algorithm 1, section 4; the values of
// section 5.1 (η 0.95, maxStage 5), and 10 Mb/s of R_AI for each 25 Gb/s, as its simulator has it for 100 Gb/s.
// Memory: the hops' state is allocated once, when the flow is made: other flows need not carry it in their caches.
// Invariant: min(min_rate, line) ≤ R, Rc ≤ line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>

#include "dataplane/congestion/congestion_algorithm.hpp"
#include "dataplane/congestion/hpcc_parameters.hpp"
#include "dataplane/congestion/proportional_window.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class Hpcc : public CongestionAlgorithm {
 public:
  using Parameters = HpccParameters;
  static constexpr uint64_t kOne = 1U << 24;  // U
  static constexpr bool kUsesAcks = true;
  static constexpr bool kUsesTelemetry = true;
  static constexpr bool kAsksAlways = true;
  static constexpr bool kBeginsBelowWindow = true;
  static constexpr std::array kSets{ParameterSet<Parameters>{
      "hpcc", "HPCC: a rate and its window by the loads of links, from switches with in_band_telemetry.", {}}};
  static constexpr auto kKeys = std::tuple{
      parameter("rtt", &Parameters::rtt,
                "T, of the longest path, without queues; the window at line rate lasts so long", Duration::ns(100),
                Duration::s(1)),
      parameter("eta", &Parameters::eta, "the load of a link that is aimed at"),
      parameter("max_stage", &Parameters::max_stage, "additive increases in a row before the load is looked at again",
                0, 1'000'000),
      parameter("ai_rate", &Parameters::ai_rate, "R_AI, the step of the additive increase", Rate::min(), kTopRate),
      parameter("min_rate", &Parameters::min_rate, "no cut goes below it", Rate::min(), kTopRate),
      parameter("multi_rate", &Parameters::multi_rate, "a rate for each hop, and the least of them holds"),
      parameter("fast_react", &Parameters::fast_react,
                "each acknowledgement changes the rate, from that of the last round trip; false: one a round trip")};
  static std::optional<ParameterConflict> conflict(const Parameters&) { return std::nullopt; }

  Hpcc(const Parameters& parameters, Rate line)
      : parameters_(parameters),
        window_(line, parameters.rtt),
        rtt_ns_(static_cast<uint64_t>(parameters.rtt.count_ps() / 1000)),
        rate_(line.count_bps()),
        least_(std::min(parameters.min_rate.count_bps(), rate_)),
        all_{.load = kOne, .rate = rate_, .stage = 0},
        hops_(std::make_unique<std::array<HopState, telemetry::kHops>>()) {
    for (HopState& hop : *hops_) hop.own = all_;
  }

  uint64_t rate_bps() const { return rate_; }
  uint64_t window_bytes() const { return window_.at(rate_); }

  void on_ack(Instant, const Acknowledgement& ack) noexcept {
    if (ack.telemetry == nullptr) return;
    const telemetry::Record& record = *ack.telemetry;
    if (record.count == 0 || record.count > telemetry::kHops) return;
    const bool is_first = update_after_ == 0 || record.count != count_;
    const bool is_round_over = ack.acked > update_after_;
    if (is_first) {
      keep(record);
    } else if (is_round_over || parameters_.fast_react) {
      parameters_.multi_rate ? react_by_hop(record, is_round_over) : react(record, is_round_over);
    }
    if (is_first || is_round_over) update_after_ = std::max(update_after_, ack.next);
  }

 private:
  struct Control {
    uint64_t load = kOne;  // U
    uint64_t rate = 0;     // Rc
    uint32_t stage = 0;
  };
  struct HopState {
    telemetry::Hop last;
    Control own;
  };
  struct Load {
    uint64_t u = 0;
    uint64_t ns = 0;
  };

  void keep(const telemetry::Record& record) noexcept {
    count_ = record.count;
    for (uint32_t i = 0; i < count_; ++i) (*hops_)[i].last = record.hops[i];
  }
  // u and τ of a hop, whose record is then the last one. Two records of one nanosecond say nothing: τ is 0.
  Load load_of(HopState& hop, const telemetry::Hop& now) const noexcept {
    constexpr uint64_t kBitsPerByteNs = 8'000'000'000;
    const telemetry::Hop before = hop.last;
    hop.last = now;
    const uint64_t ns = now.ns_since(before);
    if (ns == 0) return {};
    const uint64_t rate = now.line().count_bps();
    const Uint128 sent = Uint128{now.bytes_since(before)} * kBitsPerByteNs * kOne / (Uint128{ns} * rate);
    const uint64_t queue = std::min(now.queue_bytes(), before.queue_bytes());
    const Uint128 waits = Uint128{queue} * kBitsPerByteNs * kOne / (Uint128{rtt_ns_} * rate);
    return {.u = static_cast<uint64_t>(sent + waits), .ns = std::min(ns, rtt_ns_)};
  }
  void average(Control& control, const Load& load) const noexcept {
    control.load =
        static_cast<uint64_t>((Uint128{control.load} * (rtt_ns_ - load.ns) + Uint128{load.u} * load.ns) / rtt_ns_);
  }
  // The rate that follows; `stays`: the change is the round trip's.
  uint64_t changed(Control& control, bool stays) const noexcept {
    const Fraction& eta = parameters_.eta;
    const uint64_t step = parameters_.ai_rate.count_bps();
    const bool is_full = Uint128{control.load} * eta.whole >= Uint128{kOne} * eta.part;
    uint64_t rate = control.rate;
    uint32_t stage = control.stage + 1;
    if (is_full || control.stage >= parameters_.max_stage) {
      const Uint128 part = Uint128{control.load} * eta.whole;
      const Uint128 wanted = part == 0 ? window_.line() : Uint128{rate} * kOne * eta.part / part;
      rate = static_cast<uint64_t>(std::min<Uint128>(wanted, window_.line()));
      stage = 0;
    }
    rate = std::clamp(rate + step, least_, window_.line());
    if (stays) {
      control.rate = rate;
      control.stage = stage;
    }
    return rate;
  }
  void react(const telemetry::Record& record, bool stays) noexcept {
    Load most;
    for (uint32_t i = 0; i < count_; ++i) {
      const Load load = load_of((*hops_)[i], record.hops[i]);
      if (load.u > most.u) most = load;
    }
    average(all_, most);
    rate_ = changed(all_, stays);
  }
  void react_by_hop(const telemetry::Record& record, bool stays) noexcept {
    uint64_t least = window_.line();
    for (uint32_t i = 0; i < count_; ++i) {
      HopState& hop = (*hops_)[i];
      average(hop.own, load_of(hop, record.hops[i]));
      least = std::min(least, changed(hop.own, stays));
    }
    rate_ = least;
  }

  Parameters parameters_;
  ProportionalWindow window_;
  uint64_t rtt_ns_;
  uint64_t rate_;
  uint64_t least_;
  Control all_;
  uint32_t count_ = 0;         // hops of the last record
  uint64_t update_after_ = 0;  // a packet; 0: there was no record yet
  std::unique_ptr<std::array<HopState, telemetry::kHops>> hops_;
};

}  // namespace softspine::dataplane
