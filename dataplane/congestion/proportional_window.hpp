// SPDX-License-Identifier: Apache-2.0
// The window that belongs to a rate: what a path without queues holds at that rate.
//
//   window = line × rtt / 8 × rate / line bytes, rounded down, but 1 at least
#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class ProportionalWindow {
 public:
  ProportionalWindow(Rate line, Duration rtt)
      : line_(line.count_bps()),
        whole_(static_cast<uint64_t>(Uint128{line_} * static_cast<uint64_t>(rtt.count_ps()) / kBitPicosecondsPerByte)) {
  }

  uint64_t at(uint64_t rate_bps) const {
    return std::max<uint64_t>(static_cast<uint64_t>(Uint128{whole_} * rate_bps / line_), 1);
  }
  uint64_t line() const { return line_; }

 private:
  static constexpr uint64_t kBitPicosecondsPerByte = 8'000'000'000'000;

  uint64_t line_;
  uint64_t whole_;
};

}  // namespace softspine::dataplane
