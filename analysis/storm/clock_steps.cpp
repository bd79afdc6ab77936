// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/clock_steps.hpp"

#include <algorithm>
#include <iterator>

namespace softspine::analysis::storm {

using dataplane::Duration;
using dataplane::Instant;

Instant ClockSteps::place(Instant at) {
  const Duration by = frames_ == 0 ? Duration{} : at - previous_;
  const Instant before = last_;
  const Duration to_go_on = last_ + kLeast - at;
  if (steps_.size() < kMaxSteps && by + kLeast < Duration{} && to_go_on <= kMaxShift) {
    shift_ = to_go_on;
    steps_.push_back({.at = before, .by = by, .until = at + shift_});
  } else if (steps_.size() < kMaxSteps && by > kLeast) {
    steps_.push_back({.at = before, .by = by, .until = at + shift_});
  } else {
    usual_ = std::max(usual_, by);
  }
  ++frames_;
  previous_ = at;
  const Instant placed = at + shift_;
  last_ = frames_ == 1 ? placed : std::max(last_, placed);
  return placed;
}

std::vector<ClockStep> ClockSteps::steps() const {
  std::vector<ClockStep> ahead;
  std::vector<ClockStep> out;
  std::ranges::partition_copy(steps_, std::back_inserter(out), std::back_inserter(ahead), &ClockStep::is_back);
  std::ranges::stable_sort(ahead, std::greater{}, &ClockStep::by);
  for (size_t n = ahead.size(); n > 0; --n) {
    const Duration next = n == ahead.size() ? usual_ : std::max(usual_, ahead[n].by);
    if (ahead[n - 1].by / kDwarfs < next || frames_ < kFramesPerStep * n) continue;
    out.insert(out.end(), ahead.begin(), ahead.begin() + static_cast<ptrdiff_t>(n));
    break;
  }
  std::ranges::sort(out, {}, &ClockStep::at);
  return out;
}

}  // namespace softspine::analysis::storm
