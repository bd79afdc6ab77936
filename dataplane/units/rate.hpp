// SPDX-License-Identifier: Apache-2.0
// A link's rate, and how long a frame takes on it.
//
//   time on the wire = (bytes + 4 FCS + 8 preamble + 12 gap) × 8 / rate
//
// `bytes` is the frame without its FCS, from destination MAC to the last byte of payload; a frame
// shorter than 60 bytes is padded by the MAC, so it costs what 60 bytes cost.
// The arithmetic keeps 20 binary places of a picosecond per byte: every Ethernet rate from 10 Mb/s
// to 800 Gb/s comes out exact, any other rate is off by less than 0.02 ps a frame.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

inline constexpr uint32_t kFcsBytes = 4;
inline constexpr uint32_t kPreambleBytes = 8;
inline constexpr uint32_t kGapBytes = 12;
inline constexpr uint32_t kWireOverheadBytes = kFcsBytes + kPreambleBytes + kGapBytes;
inline constexpr uint32_t kMinFrameBytes = 60;  // without FCS

class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bps(uint64_t n) { return Rate{n}; }
  static constexpr Rate mbps(uint64_t n) { return Rate{n * 1'000'000}; }
  static constexpr Rate gbps(uint64_t n) { return Rate{n * 1'000'000'000}; }
  static constexpr Rate min() { return mbps(1); }  // below it a long transfer would outlast the time line

  constexpr uint64_t count_bps() const { return bps_; }
  constexpr bool is_zero() const { return bps_ == 0; }

  // Exactly `bytes` bytes, nothing added.
  constexpr Duration time_of_bytes(uint64_t bytes) const {
    return Duration::ps(static_cast<int64_t>((Uint128{bytes} * ps_per_byte_q20_ + kHalf) >> kFraction));
  }
  // A whole frame with all that Ethernet puts around it.
  constexpr Duration time_of_frame(uint32_t bytes) const {
    return time_of_bytes(std::max(bytes, kMinFrameBytes) + kWireOverheadBytes);
  }

  friend constexpr auto operator<=>(Rate a, Rate b) { return a.bps_ <=> b.bps_; }
  friend constexpr bool operator==(Rate a, Rate b) { return a.bps_ == b.bps_; }

 private:
  static constexpr int kFraction = 20;
  static constexpr uint64_t kHalf = 1ULL << (kFraction - 1);
  explicit constexpr Rate(uint64_t n)
      : bps_(n),
        ps_per_byte_q20_(
            n == 0 ? 0
                   : static_cast<uint64_t>(((static_cast<Uint128>(8'000'000'000'000ULL) << kFraction) + n / 2) / n)) {}
  uint64_t bps_ = 0;
  uint64_t ps_per_byte_q20_ = 0;
};

}  // namespace softspine::dataplane
