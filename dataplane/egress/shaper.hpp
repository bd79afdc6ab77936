// SPDX-License-Identifier: Apache-2.0
// A token bucket that keeps an instant instead of tokens (the generic cell rate algorithm, ITU-T I.371).
//
//   due' = max(due, start) + bytes / rate          eligible = due' − burst / rate
// A frame may start when the bucket is not below zero: so `burst` bytes pass at once after a rest, and over any
// time t no more than burst + one frame + rate × t. Bytes are those on the wire without preamble, gap and FCS.
// Without a rate it is always open and costs one test.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

class Shaper {
 public:
  void set(Rate rate, uint32_t burst_bytes) noexcept {
    rate_ = rate;
    burst_ = rate.is_zero() ? Duration{} : rate.time_of_bytes(burst_bytes);
    if (rate.is_zero()) due_ = Instant{};
  }
  bool shapes() const { return !rate_.is_zero(); }
  // From when on the next frame may start.
  Instant eligible() const { return due_ - burst_; }
  void sent(uint32_t bytes, Instant start) noexcept { due_ = std::max(due_, start) + rate_.time_of_bytes(bytes); }

 private:
  Rate rate_;
  Duration burst_;
  Instant due_;
};

}  // namespace softspine::dataplane
