// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/deadlock_finder.hpp"

#include <algorithm>

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
  bool any_obeys = false;
  nodes_.for_each_switch([&](uint32_t, const pipelines::Switch& node) { any_obeys = any_obeys || obeys_pauses(node); });
  if (!any_obeys) return;
  nodes_.engine().look_at(Instant::at(kDeadlocksEveryVirtual), [this](Instant now) { look(now); });
}

void DeadlockFinder::snapshot(control::FabricSnapshot& out) {
  out.deadlocks = found_;
}

void DeadlockFinder::look(Instant now) {
  std::vector<control::DeadlockWatch::StuckSwitch> stuck;
  nodes_.for_each_switch([&](uint32_t n, const pipelines::Switch& node) {
    if (auto queues = stuck_queues(node.egress()); !queues.empty()) stuck.push_back({n, std::move(queues)});
  });
  // Asked of stuck queues alone, which are of switches that are here.
  const auto sources = [this](const control::WaitingQueue& queue) {
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
