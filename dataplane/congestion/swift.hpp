// SPDX-License-Identifier: Apache-2.0
// Swift: the window of one flow, in packets, by its round-trip times against a target. No mark of a switch.
//
//   target = base_target + hops × hop_scale + fs,    fs = α / √cwnd + β', within 0 … fs_range
//     α = fs_range / (1 / √fs_min_cwnd − 1 / √fs_max_cwnd),   β' = −α / √fs_max_cwnd
//   RTT < target       cwnd ≥ 1: cwnd ← cwnd + ai × acked / cwnd;    else cwnd ← cwnd + ai × acked
//   else, once an RTT  cwnd ← cwnd × max(1 − β (RTT − target) / RTT, 1 − max_mdf)
//   NAK, timeout       once an RTT: cwnd ← cwnd × (1 − max_mdf); the retx_reset_threshold-th timeout in a row: min_cwnd
//   min_cwnd ≤ cwnd ≤ max_cwnd
//   cwnd ≥ 1: as many whole packets may be under way, unpaced;   cwnd < 1: one packet every RTT / cwnd
//
// RTT: from the packet's last bit out to its acknowledgement in, as adapters' timestamps have it. Every packet asks for
// an acknowledgement. Built-in hosts take in what comes at once, so that the delay is the fabric's alone; the paper's
// second window, for delays in the peer's stack, would never be the lesser one. Its hops are those of the packet by
// its TTL; ours are those of the acknowledgement, which are as many on the ways of a Clos.
//
// Numbers. cwnd in 2^-20, roots in 2^-30, times in ps; increases, cuts and targets are rounded down.
// Source: Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter (SIGCOMM 2020),
// algorithm 1 and section 3. The paper names few values: ai, β, max_mdf, fs_*, base_target and hop_scale are those of
// htsim's model of it, which calls them guesses.
// Invariant: min_cwnd ≤ cwnd ≤ max_cwnd.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>

#include "dataplane/congestion/congestion_algorithm.hpp"
#include "dataplane/congestion/swift_parameters.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class Swift : public CongestionAlgorithm {
 public:
  using Parameters = SwiftParameters;
  static constexpr uint64_t kOne = 1U << 20;  // a packet
  static constexpr bool kUsesAcks = true;
  static constexpr bool kAsksAlways = true;
  static constexpr std::array kSets{ParameterSet<Parameters>{
      "swift", "Swift: a window by round-trip times against a target that hops and the window itself set.", {}}};
  static constexpr auto kKeys = std::tuple{
      parameter("base_target", &Parameters::base_target, "the target delay without hops and flow scaling",
                Duration::ns(100), Duration::s(1)),
      parameter("hop_scale", &Parameters::hop_scale, "what each switch on the way adds to the target", Duration{},
                Duration::s(1)),
      parameter("fs_range", &Parameters::fs_range, "flow scaling: what it adds to the target at most", Duration{},
                Duration::s(1)),
      parameter("fs_min_cwnd", &Parameters::fs_min_cwnd, "flow scaling: windows in packets up to it add all of that"),
      parameter("fs_max_cwnd", &Parameters::fs_max_cwnd, "flow scaling: windows in packets from it on add nothing", 2,
                1U << 20),
      parameter("ai", &Parameters::ai, "packets that a window grows by each round trip"),
      parameter("beta", &Parameters::beta, "how much of what exceeds the target a cut takes"),
      parameter("max_mdf", &Parameters::max_mdf, "a cut takes at most this part of the window"),
      parameter("min_cwnd", &Parameters::min_cwnd, "packets: no cut goes below it"),
      parameter("max_cwnd", &Parameters::max_cwnd, "packets", 1, 1U << 20),
      parameter("initial_cwnd", &Parameters::initial_cwnd, "packets", 1, 1U << 20),
      parameter("retx_reset_threshold", &Parameters::retx_reset_threshold,
                "so many timeouts in a row set the window to the least", 1, 1'000'000)};
  static std::optional<ParameterConflict> conflict(const Parameters& it) {
    if (it.initial_cwnd > it.max_cwnd) return ParameterConflict{"initial_cwnd", "exceeds 'max_cwnd'"};
    return std::nullopt;
  }

  Swift(const Parameters& parameters, Rate, uint32_t packet_bytes)
      : parameters_(parameters),
        packet_bytes_(packet_bytes),
        wire_bytes_(packet_bytes),
        cwnd_(parameters.initial_cwnd * kOne),
        inverse_min_(inverse_root(std::max<uint64_t>(parameters.fs_min_cwnd.floor_of(kOne), 1))),
        inverse_max_(inverse_root(parameters.fs_max_cwnd * kOne)) {}

  uint64_t rate_bps() const {
    constexpr uint64_t kBitPicosecondsPerByte = 8'000'000'000'000;
    if (cwnd_ >= kOne || rtt_ == 0) return kNoLimit;
    const Uint128 bits = Uint128{wire_bytes_} * kBitPicosecondsPerByte * cwnd_ / (Uint128{rtt_} * kOne);
    return std::max<uint64_t>(static_cast<uint64_t>(bits), 1);
  }
  uint64_t window_bytes() const { return std::max(cwnd_, kOne) * packet_bytes_ / kOne; }
  Duration target(uint8_t hops) const {
    return parameters_.base_target + parameters_.hop_scale * hops + Duration::ps(flow_scaling());
  }

  void on_sent(Instant, uint32_t bytes) noexcept { wire_bytes_ = bytes; }
  void on_ack(Instant now, const Acknowledgement& ack) noexcept {
    timeouts_ = 0;
    if (!ack.rtt) return;
    rtt_ = static_cast<uint64_t>(ack.rtt->count_ps());
    const auto wanted = static_cast<uint64_t>(target(ack.hops).count_ps());
    if (rtt_ < wanted) {
      const Fraction& ai = parameters_.ai;
      const Uint128 step = Uint128{ai.part} * ack.packets * kOne / ai.whole;
      grow(cwnd_ >= kOne ? step * kOne / cwnd_ : step);
    } else if (can_decrease(now)) {
      const Fraction& beta = parameters_.beta;
      const Uint128 cut = Uint128{cwnd_} * (rtt_ - wanted) / rtt_ * beta.part / beta.whole;
      decrease(std::min<uint64_t>(static_cast<uint64_t>(cut), parameters_.max_mdf.floor_of(cwnd_)), now);
    }
  }
  void on_nak(Instant now) noexcept {
    if (can_decrease(now)) decrease(parameters_.max_mdf.floor_of(cwnd_), now);
  }
  void on_timeout(Instant now) noexcept {
    if (++timeouts_ >= parameters_.retx_reset_threshold) {
      decrease(cwnd_, now);
    } else {
      on_nak(now);
    }
  }

 private:
  static constexpr int kRootBits = 30;

  static uint64_t root(uint64_t of) {
    auto out = static_cast<uint64_t>(std::sqrt(static_cast<double>(of)));
    while (out * out > of) --out;
    while ((out + 1) * (out + 1) <= of) ++out;
    return out;
  }
  // 2^30 / √cwnd. The root of cwnd × 2^20 is √cwnd in 2^-20.
  static uint64_t inverse_root(uint64_t cwnd) { return (uint64_t{1} << (kRootBits + 20)) / root(cwnd * kOne); }

  int64_t flow_scaling() const {
    const uint64_t inverse = std::clamp(inverse_root(cwnd_), inverse_max_, inverse_min_);
    const auto range = static_cast<uint64_t>(parameters_.fs_range.count_ps());
    return static_cast<int64_t>(Uint128{range} * (inverse - inverse_max_) / (inverse_min_ - inverse_max_));
  }
  bool can_decrease(Instant now) const { return (now - last_decrease_).count_ps() >= static_cast<int64_t>(rtt_); }
  void grow(Uint128 by) noexcept {
    cwnd_ = static_cast<uint64_t>(std::min<Uint128>(cwnd_ + by, parameters_.max_cwnd * kOne));
  }
  void decrease(uint64_t by, Instant now) noexcept {
    const uint64_t before = cwnd_;
    cwnd_ = std::max({cwnd_ - by, parameters_.min_cwnd.floor_of(kOne), uint64_t{1}});
    if (cwnd_ < before) last_decrease_ = now;
  }

  Parameters parameters_;
  uint32_t packet_bytes_;
  uint32_t wire_bytes_;  // of the last packet, on the wire
  uint64_t cwnd_;
  uint64_t inverse_min_;  // of fs_min_cwnd, in 2^-30
  uint64_t inverse_max_;
  uint64_t rtt_ = 0;  // the last one; 0: none yet
  Instant last_decrease_;
  uint32_t timeouts_ = 0;  // in a row
};

}  // namespace softspine::dataplane
