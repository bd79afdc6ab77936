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

EdgeWatch::EdgeWatch(const control::Testbed& testbed, const LocalNodes& nodes, LinkControl& links, Incidents& incidents,
                     control::ErrorChannel& errors)
    : testbed_(testbed), nodes_(nodes), links_(links), incidents_(incidents), errors_(errors) {
  nodes.for_each_edge(
      [this](control::LinkEnd end, dataplane::Nic& nic) { edges_.push_back({.end = end, .nic = nic}); });
}

void EdgeWatch::start() {
  if (edges_.empty()) return;
  nodes_.engine().look_at(Instant::at(kEdgesEveryVirtual), [this](Instant now) { look(now); });
}

void EdgeWatch::end_soon() noexcept {
  for (const Watched& edge : edges_) edge.nic.end_soon();
}

void EdgeWatch::look(Instant now) {
  for (Watched& edge : edges_) look_at(edge, now);
  const bool wall = nodes_.engine().is_wall();
  const Instant next = nodes_.engine().next_event();
  if (next.is_never() && !wall) return;
  const Instant then = now + (wall ? kEdgesEveryWall / testbed_.run.dilation : kEdgesEveryVirtual);
  nodes_.engine().look_at(wall ? then : std::max(then, next), [this](Instant later) { look(later); });
}

void EdgeWatch::look_at(Watched& edge, Instant now) {
  const bool was_gone = edge.nic.outside_is_gone();
  edge.nic.look_outside(now);
  if (edge.nic.outside_is_gone() && !was_gone) {
    const EdgeError& how = edge.nic.faults().back().error;
    incidents_.add(IncidentOf::kOutsides, now,
                   testbed_.fabric.name_of(edge.end) + ": " + how.where + ": " + how.message);
  }
  report(edge);
  follow_carrier(edge, now);
}

// The NIC is the first to learn that the outside has no carrier, and the last that it has one again: in between the
// link changes, and the outside must not be shown that.
void EdgeWatch::follow_carrier(Watched& edge, Instant now) {
  const bool lost = edge.nic.outside_is_gone() || !edge.nic.outside_has_carrier();
  if (lost == edge.is_lost) return;
  edge.is_lost = lost;
  if (lost) edge.nic.set_outside_lost(true);
  links_.set_lost(testbed_.fabric.port(edge.end).link, lost, now);
  if (!lost) edge.nic.set_outside_lost(false);
}

void EdgeWatch::report(Watched& edge) {
  const std::vector<EdgeFault>& faults = edge.nic.faults();
  for (; edge.reported < faults.size(); ++edge.reported) {
    const EdgeFault& fault = faults[edge.reported];
    errors_.report(testbed_.fabric.nodes[edge.end.node].name, fault.error.where + ": " + fault.error.message, fault.at);
  }
}

void EdgeWatch::finish(Instant now) {
  for (Watched& edge : edges_) {
    edge.nic.finish(now);
    report(edge);
  }
}

}  // namespace softspine::testbeds
