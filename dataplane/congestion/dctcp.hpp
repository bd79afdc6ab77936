// SPDX-License-Identifier: Apache-2.0
// DCTCP: the rate of one flow by the part of its packets that arrive marked.
//
//   F = marked packets / acknowledged packets, of about one round trip      α ← (1 − g) α + g F
//     a round trip ends with the first acknowledgement of a packet sent after its beginning
//   a mark, if none was answered in this round trip:   rate ← max(min_rate, rate (1 − α / 2))
//   the end of a round trip without an answer in it:   rate ← min(line, rate + ai_rate)
//   window = line × rtt × rate / line                  of payload
//
// This is the form for RDMA that HPCC's simulator compares with (its congestion control 8): a rate with a window in
// proportion, line rate at first and no slow start. The paper's window grows by a packet each round trip: ai_rate is a
// packet each rtt, and 615 Mb/s are 1,000 bytes in 13 µs. Losses change nothing: its networks have none.
// It differs in one thing: F's denominator there is the packets under way as the round trip begins, plus one; here, as
// in the paper, it is those that were acknowledged. Each acknowledgement says of the packet that it names whether that
// one was marked, and every packet asks for one.
//
// Numbers. Rates in bit/s, α in 2^-20; α (1 − g), g F and the cut are rounded down. α begins at 1.
// Sources: Alizadeh et al., Data Center TCP (SIGCOMM 2010), section 3.3; Li et al., HPCC (SIGCOMM 2019), section 5.1.
// Invariant: min(min_rate, line) ≤ rate ≤ line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

#include "dataplane/congestion/congestion_algorithm.hpp"
#include "dataplane/congestion/dctcp_parameters.hpp"
#include "dataplane/congestion/proportional_window.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class Dctcp : public CongestionAlgorithm {
 public:
  using Parameters = DctcpParameters;
  static constexpr uint32_t kAlphaOne = 1U << 20;
  static constexpr bool kUsesAcks = true;
  static constexpr bool kUsesEcho = true;
  static constexpr bool kAsksAlways = true;
  static constexpr bool kBeginsBelowWindow = true;
  static constexpr std::array kSets{ParameterSet<Parameters>{
      "dctcp", "DCTCP: a rate and its window by the part of the packets that arrive marked.", {}}};
  static constexpr auto kKeys = std::tuple{
      parameter("g", &Parameters::g, "weight of a new part of marked packets in their moving average"),
      parameter("rtt", &Parameters::rtt, "of the longest path, without queues: the window at line rate lasts so long",
                Duration::ns(100), Duration::s(1)),
      parameter("ai_rate", &Parameters::ai_rate, "the step of the additive increase, once a round trip", Rate::min(),
                kTopRate),
      parameter("min_rate", &Parameters::min_rate, "no cut goes below it", Rate::min(), kTopRate)};
  static std::optional<ParameterConflict> conflict(const Parameters&) { return std::nullopt; }

  Dctcp(const Parameters& parameters, Rate line)
      : parameters_(parameters),
        window_(line, parameters.rtt),
        rate_(line.count_bps()),
        least_(std::min(parameters.min_rate.count_bps(), rate_)) {}

  uint64_t rate_bps() const { return rate_; }
  uint64_t window_bytes() const { return window_.at(rate_); }
  uint32_t alpha() const { return alpha_; }

  void on_ack(Instant, const Acknowledgement& ack) noexcept {
    acked_ += ack.packets;
    if (ack.echo) marked_ += ack.packets;
    const bool is_round_over = ack.acked > round_end_;
    if (is_round_over) end_round(ack.next);
    if (ack.acked > answer_end_) has_answered_ = false;
    if (ack.echo && !has_answered_) {
      const auto cut = static_cast<uint64_t>(Uint128{rate_} * alpha_ / (2 * kAlphaOne));
      rate_ = std::max(rate_ - cut, least_);
      has_answered_ = true;
      answer_end_ = ack.next;
    }
    if (is_round_over && !has_answered_) rate_ = std::min(rate_ + parameters_.ai_rate.count_bps(), window_.line());
  }

 private:
  // The first acknowledgement of all begins a round trip, and ends none.
  void end_round(uint64_t next) noexcept {
    if (round_end_ != 0) {
      const Fraction& g = parameters_.g;
      const uint64_t part = marked_ * kAlphaOne / acked_;
      const uint64_t kept = uint64_t{alpha_} * (g.whole - g.part) / g.whole;
      alpha_ = static_cast<uint32_t>(kept + g.floor_of(part));
      acked_ = marked_ = 0;
    }
    round_end_ = next;
  }

  Parameters parameters_;
  ProportionalWindow window_;
  uint64_t rate_;
  uint64_t least_;
  uint32_t alpha_ = kAlphaOne;
  bool has_answered_ = false;
  uint64_t acked_ = 0;   // packets, in this round trip
  uint64_t marked_ = 0;  // of those
  uint64_t round_end_ = 0;
  uint64_t answer_end_ = 0;
};

}  // namespace softspine::dataplane
