// SPDX-License-Identifier: Apache-2.0
// Times of one kind at one rank, as spans. Those that overlap or touch are one. When there are kMost, gaps of a
// resolution are closed, which doubles until half as many are left: so memory is bounded, and a short run is exact.
#pragma once

#include <algorithm>
#include <vector>

#include "control/telemetry/steps_snapshot.hpp"

namespace softspine::control {

class StepSpans {
 public:
  static constexpr size_t kMost = 256;

  // In the order of `to`.
  void add(dataplane::Instant from, dataplane::Instant to) {
    if (to <= from) return;
    StepSpan all{from, to, to - from};
    while (!spans_.empty() && spans_.back().to + resolution_ >= all.from) {
      join(all, spans_.back());
      spans_.pop_back();
    }
    spans_.push_back(all);
    while (spans_.size() >= kMost) coarsen();
  }
  const std::vector<StepSpan>& all() const { return spans_; }

 private:
  static void join(StepSpan& later, const StepSpan& earlier) {
    const dataplane::Instant both_from = std::max(later.from, earlier.from);
    const dataplane::Instant both_to = std::min(later.to, earlier.to);
    const dataplane::Duration both = both_to > both_from ? both_to - both_from : dataplane::Duration{};
    const dataplane::Duration sum = later.busy + earlier.busy - both;
    later.from = std::min(later.from, earlier.from);
    later.to = std::max(later.to, earlier.to);
    // At least: either may have gaps, where the other one is busy.
    later.busy = std::max({later.busy, earlier.busy, std::min(sum, later.to - later.from)});
  }
  void coarsen() {
    resolution_ = std::max(resolution_ * 2, dataplane::Duration::ns(1));
    std::vector<StepSpan> out;
    for (StepSpan& span : spans_) {
      if (!out.empty() && out.back().to + resolution_ >= span.from) {
        join(span, out.back());
        out.pop_back();
      }
      out.push_back(span);
    }
    spans_ = std::move(out);
  }

  std::vector<StepSpan> spans_;
  dataplane::Duration resolution_;
};

}  // namespace softspine::control
