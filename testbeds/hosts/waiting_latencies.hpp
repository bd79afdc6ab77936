// SPDX-License-Identifier: Apache-2.0
// Latencies on their way into a histogram, seven in one cache line: an addition to a histogram touches six lines.
//
// They go in the order in which they came, so the histogram's sum is the same to the bit. Whoever reads the histogram
// calls flush() before.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/histogram.hpp"
#include "dataplane/units/prefetch.hpp"

namespace softspine::testbeds {

class alignas(dataplane::kCacheLine) WaitingLatencies {
 public:
  static constexpr uint32_t kRoom = 7;

  // Returns whether there is room for another one; if not, flush() follows.
  [[nodiscard]] bool add(int64_t latency_ps) {
    waiting_[count_++] = latency_ps;
    return count_ < kRoom;
  }
  void flush(dataplane::Histogram& histogram) {
    for (uint32_t i = 0; i < count_; ++i) histogram.add(waiting_[i]);
    count_ = 0;
  }

 private:
  std::array<int64_t, kRoom> waiting_;
  uint32_t count_ = 0;
};
static_assert(sizeof(WaitingLatencies) == dataplane::kCacheLine);

}  // namespace softspine::testbeds
