// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/incidents.hpp"

#include <algorithm>
#include <utility>

namespace softspine::testbeds {

using control::ControlEvent;

ControlEvent event_of(IncidentOf of) {
  switch (of) {
    case IncidentOf::kLinks:
    case IncidentOf::kPortsAndHosts: break;
    case IncidentOf::kStacks: return ControlEvent::kStack;
    case IncidentOf::kRoutes: return ControlEvent::kRouteChange;
    case IncidentOf::kOutsides: return ControlEvent::kOutsideGone;
    case IncidentOf::kDeadlocks: return ControlEvent::kDeadlockFound;
  }
  return ControlEvent::kFault;
}

std::vector<Incident> Incidents::since(size_t seen) const {
  std::vector<Incident> out(all_.begin() + static_cast<ptrdiff_t>(seen), all_.end());
  std::ranges::stable_sort(out, {}, &Incident::of);
  return out;
}

std::vector<control::FaultSnapshot> Incidents::faults() const {
  std::vector<const Incident*> struck;
  for (const Incident& each : all_) {
    if (each.of <= IncidentOf::kPortsAndHosts) struck.push_back(&each);
  }
  std::ranges::stable_sort(struck, {}, [](const Incident* each) { return std::pair{each->at, each->of}; });
  std::vector<control::FaultSnapshot> out;
  for (const Incident* each : struck) {
    out.push_back({.at = each->at, .what = each->what, .number = each->number, .window = {}});
  }
  return out;
}

}  // namespace softspine::testbeds
