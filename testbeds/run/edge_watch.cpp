// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/edge_watch.hpp"

#include <algorithm>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::EdgeError;
using dataplane::EdgeFault;
using dataplane::Instant;

namespace {

// On the wall clock every look costs a stop of all workers.
constexpr Duration kEdgesEveryVirtual = Duration::us(100);
constexpr Duration kEdgesEveryWall = Duration::ms(20);  // of the machine's time

}  // namespace

void EdgeWatch::start() {
  if (assembly_.edges.empty()) return;
  assembly_.engine->look_at(Instant::at(kEdgesEveryVirtual), [this](Instant now) { look(now); });
}

void EdgeWatch::end_soon() noexcept {
  for (const EdgePort& edge : assembly_.edges) edge.nic->end_soon();
}

void EdgeWatch::look(Instant now) {
  for (size_t i = 0; i < assembly_.edges.size(); ++i) look_at(i, now);
  const bool wall = assembly_.engine->is_wall();
  const Instant next = assembly_.engine->next_event();
  if (next.is_never() && !wall) return;
  const Instant then = now + (wall ? kEdgesEveryWall / testbed_.run.dilation : kEdgesEveryVirtual);
  assembly_.engine->look_at(wall ? then : std::max(then, next), [this](Instant later) { look(later); });
}

void EdgeWatch::look_at(size_t edge, Instant now) {
  const EdgePort& port = assembly_.edges[edge];
  const bool was_gone = port.nic->outside_is_gone();
  port.nic->look_outside(now);
  if (port.nic->outside_is_gone() && !was_gone) {
    const EdgeError& how = port.nic->faults().back().error;
    incidents_.add(IncidentOf::kOutsides, now,
                   testbed_.fabric.name_of(port.end) + ": " + how.where + ": " + how.message);
  }
  report(edge);
  follow_carrier(edge, now);
}

// The NIC hears first that it is the outside that has no carrier, and last that it has one again: in between the link
// changes, and the outside must not be shown that.
void EdgeWatch::follow_carrier(size_t edge, Instant now) {
  const EdgePort& port = assembly_.edges[edge];
  const bool lost = port.nic->outside_is_gone() || !port.nic->outside_has_carrier();
  if (lost == lost_[edge]) return;
  lost_[edge] = lost;
  if (lost) port.nic->set_outside_lost(true);
  links_.set_lost(testbed_.fabric.port(port.end).link, lost, now);
  if (!lost) port.nic->set_outside_lost(false);
}

void EdgeWatch::report(size_t edge) {
  const EdgePort& port = assembly_.edges[edge];
  const std::vector<EdgeFault>& faults = port.nic->faults();
  for (; reported_[edge] < faults.size(); ++reported_[edge]) {
    const EdgeFault& fault = faults[reported_[edge]];
    errors_.report(testbed_.fabric.nodes[port.end.node].name, fault.error.where + ": " + fault.error.message, fault.at);
  }
}

void EdgeWatch::finish(Instant now) {
  for (size_t i = 0; i < assembly_.edges.size(); ++i) {
    assembly_.edges[i].nic->finish(now);
    report(i);
  }
}

}  // namespace softspine::testbeds
