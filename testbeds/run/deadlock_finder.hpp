// SPDX-License-Identifier: Apache-2.0
// Looks for deadlocks while a fabric runs: passes the state of its switches to control/telemetry/deadlock.hpp at
// intervals. Quick while nothing is paused. On the virtual clock this keeps no run alive: it skips the time in which
// nothing happens, and ends with the last event.
#pragma once

#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/deadlock.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

// The queues of one switch that are stuck; by queue, the ports that its packets came in by.
struct StuckHere {
  uint32_t node = 0;
  std::vector<dataplane::StuckQueue> queues;
  std::vector<std::vector<dataplane::PortNo>> sources;
};

class DeadlockFinder : public RunPart {
 public:
  // All must outlive the DeadlockFinder.
  DeadlockFinder(const control::Testbed& testbed, const LocalNodes& nodes, Incidents& incidents)
      : testbed_(testbed), nodes_(nodes), incidents_(incidents), watch_(testbed.fabric) {}

  void start() override;
  void snapshot(control::FabricSnapshot& out) override;

 private:
  void look(dataplane::Instant now);
  std::vector<StuckHere> gather_stuck() const;

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  Incidents& incidents_;
  control::DeadlockWatch watch_;
  bool any_obeys_ = false;  // of the switches here
  bool has_looked_ = false;
  std::vector<control::DeadlockSnapshot> found_;
};

}  // namespace softspine::testbeds
