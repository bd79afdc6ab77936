// SPDX-License-Identifier: Apache-2.0
// Brings the pause frames of one port into the order of their times before timers see them: captures are written by
// several threads, and clocks are wrong now and then. The kHeld youngest frames are held back. A frame with a time far
// ahead stays among these and disturbs no other; one that is older than a frame that was already given out is too
// late, and has to be left out.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include "dataplane/units/time.hpp"
#include "tools/storm/pause_frame.hpp"

namespace softspine::tools::storm {

class PauseOrder {
 public:
  static constexpr size_t kHeld = 512;

  struct Held {
    dataplane::Instant at;
    uint64_t number = 0;  // in the capture: frames of one time keep their order
    uint32_t sender = 0;
    PauseFrame frame;
  };

  // False: too late.
  bool put(const Held& held) {
    if (held.at < latest_) return false;
    held_.push_back(held);
    std::ranges::push_heap(held_, std::greater{}, key_of);
    return true;
  }
  bool is_full() const { return held_.size() > kHeld; }
  bool empty() const { return held_.empty(); }
  // The oldest. There must be one.
  Held take() {
    std::ranges::pop_heap(held_, std::greater{}, key_of);
    const Held oldest = held_.back();
    held_.pop_back();
    latest_ = oldest.at;
    return oldest;
  }

 private:
  static std::tuple<dataplane::Instant, uint64_t> key_of(const Held& held) { return {held.at, held.number}; }

  std::vector<Held> held_;
  dataplane::Instant latest_ = dataplane::Instant::at_ps(std::numeric_limits<int64_t>::min());  // that was given out
};

}  // namespace softspine::tools::storm
