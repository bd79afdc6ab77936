// SPDX-License-Identifier: Apache-2.0
// Everything that struck a running fabric, and that its control did and found, in one list. Parts of the run add to it
// in engine actions; the report's faults and the event log are read from it, while the workers stand still or after the
// run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/telemetry/event_lines.hpp"
#include "control/telemetry/snapshot.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

// The writer of an incident. Incidents of several at one instant stand in this order.
enum class IncidentOf : uint8_t { kLinks, kStacks, kPortsAndHosts, kRoutes, kOutsides, kDeadlocks };

control::ControlEvent event_of(IncidentOf of);

struct Incident {
  IncidentOf of;
  dataplane::Instant at;
  std::string what;
  uint32_t number = control::kNone;  // in the ledger of losses, of a fault that began
};

class Incidents {
 public:
  void add(IncidentOf of, dataplane::Instant at, std::string what, uint32_t number = control::kNone) {
    all_.push_back({of, at, std::move(what), number});
  }
  size_t count() const { return all_.size(); }
  // Those behind the first `seen`, by whose they are, and as they happened.
  std::vector<Incident> since(size_t seen) const;
  // Faults, and decisions of stacks, by instant.
  std::vector<control::FaultSnapshot> faults() const;

 private:
  std::vector<Incident> all_;
};

}  // namespace softspine::testbeds
