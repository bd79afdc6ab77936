// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/deadlock_finder.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

// Longer than a pause that just comes and goes; on the wall clock every look costs a stop of all workers.
constexpr Duration kDeadlocksEveryVirtual = Duration::us(100);
constexpr Duration kDeadlocksEveryWall = Duration::ms(20);  // of real time

bool obeys_pauses(const pipelines::Switch& node) {
  return std::ranges::any_of(node.egress().plan().ports, [](const auto& port) { return port.pfc_enabled != 0; });
}

}  // namespace

void DeadlockFinder::start() {
  nodes_.for_each_switch(
      [&](uint32_t, const pipelines::Switch& node) { any_obeys_ = any_obeys_ || obeys_pauses(node); });
  if (!any_obeys_ && nodes_.ranks().is_alone()) return;
  nodes_.engine().look_at(Instant::at(kDeadlocksEveryVirtual), [this](Instant now) { look(now); });
}

void DeadlockFinder::snapshot(control::FabricSnapshot& out) {
  out.deadlocks = found_;
}

// Over ranks with the sources of each queue, which other ranks cannot ask for.
std::vector<StuckHere> DeadlockFinder::gather_stuck() const {
  std::vector<StuckHere> here;
  nodes_.for_each_switch([&](uint32_t n, const pipelines::Switch& node) {
    auto queues = stuck_queues(node.egress());
    if (queues.empty()) return;
    here.push_back({.node = n, .queues = std::move(queues), .sources = {}});
    if (nodes_.ranks().is_alone()) return;
    for (const dataplane::StuckQueue& queue : here.back().queues) {
      here.back().sources.push_back(sources_of(node.egress(), queue.port, queue.priority));
    }
  });
  std::vector<StuckHere> out;
  for (auto& each : nodes_.ranks().gather(here)) std::ranges::move(each, std::back_inserter(out));
  std::ranges::sort(out, {}, &StuckHere::node);
  return out;
}

void DeadlockFinder::look(Instant now) {
  if (!std::exchange(has_looked_, true) && nodes_.ranks().all(!any_obeys_)) return;
  std::vector<control::DeadlockWatch::StuckSwitch> stuck;
  std::map<control::WaitingQueue, std::vector<dataplane::PortNo>> elsewhere;
  for (StuckHere& each : gather_stuck()) {
    for (size_t i = 0; i < each.sources.size(); ++i) {
      const dataplane::StuckQueue& queue = each.queues[i];
      elsewhere[{{each.node, queue.port.value()}, queue.priority.value()}] = std::move(each.sources[i]);
    }
    stuck.push_back({each.node, std::move(each.queues)});
  }
  // Asked of stuck queues alone.
  const auto sources = [&](const control::WaitingQueue& queue) {
    if (!nodes_.ranks().is_alone()) return elsewhere[queue];
    const dataplane::PortNo port{queue.port.port};
    return sources_of(nodes_.switch_at(queue.port.node)->egress(), port, dataplane::Priority{queue.priority});
  };
  for (const control::Deadlock& each : watch_.look(stuck, sources, now)) {
    found_.push_back({each.found, each.text(testbed_.fabric)});
    incidents_.add(IncidentOf::kDeadlocks, each.found, found_.back().circle);
  }
  const bool wall = nodes_.engine().is_wall();
  const Instant next = nodes_.engine().next_event();
  if (next.is_never() && !wall) return;
  const Instant then = now + (wall ? kDeadlocksEveryWall / testbed_.run.dilation : kDeadlocksEveryVirtual);
  nodes_.engine().look_at(wall ? then : std::max(then, next), [this](Instant later) { look(later); });
}

}  // namespace softspine::testbeds
