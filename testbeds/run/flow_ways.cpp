// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/flow_ways.hpp"

#include <numeric>
#include <utility>

namespace softspine::testbeds {

using control::RecordedWay;
using dataplane::Instant;

void FlowWays::open(std::shared_ptr<control::Recording> into) {
  into_ = std::move(into);
  all_.resize(flows_.size());
  std::iota(all_.begin(), all_.end(), 0U);
  ways_.resize(flows_.size());
}

void FlowWays::look(const PathTables& tables, Instant now) {
  if (all_.empty() || steps_ > kMostSteps) return;
  for (uint32_t steps = 1; steps > 0 && steps_ <= kMostSteps; steps_ += steps) steps = paths_.look(tables, all_);
  std::vector<RecordedWay> changed;
  for (const uint32_t flow : all_) {
    const FlowPath* const path = paths_.of(flow);
    if (path == nullptr || (ways_[flow] && *ways_[flow] == *path)) continue;
    ways_[flow] = *path;
    changed.push_back({.flow = flow, .is_drawn = path->is_drawn, .end = path->end, .ports = path->ports});
  }
  if (steps_ > kMostSteps) changed.push_back({.flow = std::nullopt});
  into_->add_ways(now, changed);
}

}  // namespace softspine::testbeds
