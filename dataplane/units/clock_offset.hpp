// SPDX-License-Identifier: Apache-2.0
// How far a node's clock is off its nominal frequency, in parts per billion of it.
//
// IEEE 802.3 lets a port's signalling rate differ from the nominal one by at most ±100 ppm. One oscillator feeds all
// ports of a node, so one offset holds for all of them: a port of nominal rate r sends at r × (1 + offset).
// Offsets are drawn by (seed, node), uniformly within ± a bound. With a bound of 0 all clocks agree, and frames of
// equal senders meet at a switch in the same order for ever; with any other bound their phases drift apart by the
// difference of the offsets (Floyd and Jacobson, On Traffic Phase Effects in Packet-Switched Gateways, 1992).
// Only rates follow the offset. Timers and pauses last as long as configured: 100 ppm of them are nanoseconds.
#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kMaxClockPpm = 100;

class ClockOffset {
 public:
  constexpr ClockOffset() = default;
  static constexpr ClockOffset ppb(int32_t n) { return ClockOffset{n}; }
  // `node`: its number in the fabric. The bound is at most kMaxClockPpm.
  static ClockOffset drawn(uint64_t seed, uint32_t node, uint32_t bound_ppm) {
    constexpr uint64_t kStream = 0x636c6f636bULL << 32;  // apart from the nodes' own generators
    const int64_t bound = int64_t{bound_ppm} * 1000;
    const uint64_t draw = Rng{seed, kStream | node}.below(static_cast<uint64_t>(2 * bound + 1));
    return ppb(static_cast<int32_t>(static_cast<int64_t>(draw) - bound));
  }

  constexpr int32_t count_ppb() const { return ppb_; }
  // A nominal rate, by this clock.
  constexpr Rate of(Rate nominal) const {
    const auto bps = static_cast<Int128>(nominal.count_bps());
    return Rate::bps(static_cast<uint64_t>(bps + bps * ppb_ / 1'000'000'000));
  }

 private:
  explicit constexpr ClockOffset(int32_t n) : ppb_(n) {}
  int32_t ppb_ = 0;
};

}  // namespace softspine::dataplane
