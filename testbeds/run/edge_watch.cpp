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
constexpr Duration kEdgesEveryWall = Duration::ms(20);        // of the machine's time
constexpr Duration kEdgesEveryOverRanks = Duration::ms(100);  // likewise; a look is three meetings

}  // namespace

EdgeWatch::EdgeWatch(const control::Testbed& testbed, const LocalNodes& nodes, LinkControl& links, Incidents& incidents,
                     control::ErrorChannel& errors)
    : testbed_(testbed), nodes_(nodes), links_(links), incidents_(incidents), errors_(errors) {
  nodes.for_each_edge(
      [this](control::LinkEnd end, dataplane::Nic& nic) { edges_.push_back({.end = end, .nic = nic}); });
  any_outside_ = std::ranges::any_of(testbed.fabric.nodes, [](const control::FabricNode& node) {
    return node.kind == control::NodeKind::kHost && !control::is_builtin(node.attachment);
  });
}

void EdgeWatch::start() {
  if (!any_outside_) return;
  nodes_.engine().look_at(Instant::at(kEdgesEveryVirtual), [this](Instant now) { look(now); });
}

void EdgeWatch::end_soon() noexcept {
  for (const Watched& edge : edges_) edge.nic.end_soon();
}

void EdgeWatch::look(Instant now) {
  const bool wall = nodes_.engine().is_wall();
  std::vector<Change> changes;
  for (Watched& edge : edges_) {
    if (Change change = look_at(edge, now); change.has_changed || !change.gone.empty()) changes.push_back(change);
  }
  if (wall) {  // files, which the virtual clock has alone, keep their carrier
    for (const std::vector<Change>& of_rank : nodes_.ranks().gather(changes)) {
      for (const Change& change : of_rank) follow(change, now);
    }
  }
  if (wall) {
    const Duration every = nodes_.ranks().is_alone() ? kEdgesEveryWall : kEdgesEveryOverRanks;
    return nodes_.engine().look_at(now + every / testbed_.run.dilation, [this](Instant later) { look(later); });
  }
  const Instant next = nodes_.engine().next_event();
  if (next.is_never()) return;
  nodes_.engine().look_at(std::max(now + kEdgesEveryVirtual, next), [this](Instant later) { look(later); });
}

EdgeWatch::Change EdgeWatch::look_at(Watched& edge, Instant now) {
  const bool was_gone = edge.nic.outside_is_gone();
  edge.nic.look_outside(now);
  Change out{.end = edge.end, .gone = {}};
  if (edge.nic.outside_is_gone() && !was_gone) {
    const EdgeError& how = edge.nic.faults().back().error;
    out.gone = how.where + ": " + how.message;
  }
  report(edge);
  out.is_lost = edge.nic.outside_is_gone() || !edge.nic.outside_has_carrier();
  out.has_changed = out.is_lost != edge.is_lost;
  edge.is_lost = out.is_lost;
  return out;
}

// On all ranks. The NIC is the first to learn that the outside has no carrier, and the last that it has one again: in
// between the link changes, and the outside must not be shown that.
void EdgeWatch::follow(const Change& change, Instant now) {
  if (!change.gone.empty()) {
    incidents_.add(IncidentOf::kOutsides, now, testbed_.fabric.name_of(change.end) + ": " + change.gone);
  }
  if (!change.has_changed) return;
  const auto edge = std::ranges::find(edges_, change.end, &Watched::end);
  if (edge != edges_.end() && change.is_lost) edge->nic.set_outside_lost(true);
  links_.set_lost(testbed_.fabric.port(change.end).link, change.is_lost, now);
  if (edge != edges_.end() && !change.is_lost) edge->nic.set_outside_lost(false);
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
