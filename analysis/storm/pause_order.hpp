// SPDX-License-Identifier: Apache-2.0
// Brings the pause frames of one port into the order of their times before timers see them: captures are written by
// several threads, and clocks are wrong now and then. The kHeld youngest frames are held back. A frame with a time far
// ahead stays among these and disturbs no other; one that is older than a frame that was already given out is too
// late, and has to be left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "analysis/storm/pause_frame.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::analysis::storm {

class PauseOrder {
 public:
  static constexpr size_t kHeld = 512;

  struct Held {
    dataplane::Instant at;
    uint32_t sender = 0;
    PauseFrame frame;
  };

  // False: too late. Frames of one time keep the order in which they are put.
  bool put(const Held& held) {
    if (held.at < latest_) return false;
    if (end_ == held_.size()) make_room();
    size_t place = end_++;
    for (; place > begin_ && held_[place - 1].at > held.at; --place) held_[place] = held_[place - 1];
    held_[place] = held;
    return true;
  }
  bool is_full() const { return end_ - begin_ > kHeld; }
  bool empty() const { return begin_ == end_; }
  // The oldest. There must be one.
  Held take() {
    latest_ = held_[begin_].at;
    return held_[begin_++];
  }

 private:
  // Frames come nearly in order, so each is put at the end or close to it: that is cheaper than a heap.
  void make_room() {
    if (begin_ > 0) std::move(held_.begin() + static_cast<ptrdiff_t>(begin_), held_.end(), held_.begin());
    end_ -= begin_;
    begin_ = 0;
    if (end_ * 2 >= held_.size()) held_.resize(std::max<size_t>(16, held_.size() * 2));
  }

  std::vector<Held> held_;
  size_t begin_ = 0;
  size_t end_ = 0;
  dataplane::Instant latest_ = dataplane::Instant::at_ps(std::numeric_limits<int64_t>::min());  // that was given out
};

}  // namespace softspine::analysis::storm
