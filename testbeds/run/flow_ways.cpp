// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/flow_ways.hpp"

#include <numeric>
#include <utility>

namespace softspine::testbeds {

using control::RecordedWay;
using dataplane::Engine;
using dataplane::Instant;

void FlowWays::open(std::shared_ptr<control::Recording> into, dataplane::Duration interval) {
  if ((into == nullptr && nodes_.ranks().is_alone()) || flows_.size() == 0) return;
  into_ = std::move(into);
  interval_ = interval;
  all_.resize(flows_.size());
  std::iota(all_.begin(), all_.end(), 0U);
  ways_.resize(flows_.size());
  nodes_.engine().look_at(Instant{}, [this](Instant now) { sample(now); });
}

// The next multiple; on the virtual clock the first one after the next event, if nothing happens before.
void FlowWays::sample(Instant now) {
  look(now);
  if (!nodes_.ranks().all(steps_ <= kMostSteps)) return;
  Engine& engine = nodes_.engine();
  const Instant event = engine.next_event();
  if (event.is_never() && !engine.is_wall()) return;
  const int64_t interval = interval_.count_ps();
  const Instant usual = now + interval_;
  const bool waits = !engine.is_wall() && event > usual;
  const Instant then = waits ? Instant::at_ps((event.count_ps() / interval + 1) * interval) : usual;
  engine.look_at(then, [this](Instant later) { sample(later); });
}

void FlowWays::look(Instant now) {
  PathTables tables = path_tables(nodes_, links_, flows_);
  if (into_ == nullptr) return;
  if (tables_ && tables == *tables_) return;
  tables_ = std::move(tables);
  for (uint32_t steps = 1; steps > 0 && steps_ <= kMostSteps; steps_ += steps) steps = paths_.look(*tables_, all_);
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
