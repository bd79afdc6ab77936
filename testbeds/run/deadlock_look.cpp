// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/deadlock_look.hpp"

#include <algorithm>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

// Longer than a pause that just comes and goes; on the wall clock every look costs a stop of all workers.
constexpr Duration kDeadlocksEveryVirtual = Duration::us(100);
constexpr Duration kDeadlocksEveryWall = Duration::ms(20);  // of real time

bool obeys_pauses(const pipelines::Switch* node) {
  return node != nullptr &&
         std::ranges::any_of(node->egress().plan().ports, [](const auto& port) { return port.pfc_enabled != 0; });
}

}  // namespace

void DeadlockLook::start() {
  if (std::ranges::none_of(assembly_.switches, obeys_pauses)) return;
  assembly_.engine->look_at(Instant::at(kDeadlocksEveryVirtual), [this](Instant now) { look(now); });
}

void DeadlockLook::snapshot(control::FabricSnapshot& out) {
  out.deadlocks = found_;
}

void DeadlockLook::look(Instant now) {
  std::vector<control::DeadlockWatch::StuckSwitch> stuck;
  for (uint32_t n = 0; n < assembly_.switches.size(); ++n) {
    if (assembly_.switches[n] == nullptr) continue;
    if (auto queues = stuck_queues(assembly_.switches[n]->egress()); !queues.empty()) {
      stuck.push_back({n, std::move(queues)});
    }
  }
  const auto sources = [this](const control::WaitingQueue& queue) {
    const dataplane::PortNo port{queue.port.port};
    return sources_of(assembly_.switches[queue.port.node]->egress(), port, dataplane::Priority{queue.priority});
  };
  for (const control::Deadlock& each : watch_.look(stuck, sources, now)) {
    found_.push_back({each.found, each.text(testbed_.fabric)});
    incidents_.add(IncidentOf::kDeadlocks, each.found, found_.back().circle);
  }
  const bool wall = assembly_.engine->is_wall();
  const Instant next = assembly_.engine->next_event();
  if (next.is_never() && !wall) return;
  const Instant then = now + (wall ? kDeadlocksEveryWall / testbed_.run.dilation : kDeadlocksEveryVirtual);
  assembly_.engine->look_at(wall ? then : std::max(then, next), [this](Instant later) { look(later); });
}

}  // namespace softspine::testbeds
