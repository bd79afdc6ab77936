// SPDX-License-Identifier: Apache-2.0
// Traffic engineering while a fabric runs. At each interval the controller
//
//   measures   what every built-in host's flows have sent since the last time, by port of a ToR and destination
//   computes   where each goes, over the routes as they are (control/engineering)
//   installs   `delay` later, at each ToR whose overrides differ
//
// A plan replaces the one before it: who has sent nothing for an interval has no override any more. Failures do not
// wake the controller. Until its next plan a switch goes by ECMP where an override's link is down, or its next hop has
// left the routes (dataplane/forwarding/override_table.hpp).
//
// The controller measures by looks, which keep no run alive: with the last event of the traffic the controller is at
// its end, too.
#pragma once

#include <map>
#include <vector>

#include "control/engineering/engineer.hpp"
#include "control/model/testbed.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/run_flows.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class TrafficController : public RunPart {
 public:
  // All must outlive it.
  TrafficController(const control::Testbed& testbed, dataplane::Engine& engine, const RunFlows& flows,
                    LinkControl& links)
      : testbed_(testbed), engine_(engine), flows_(flows), links_(links) {}

  // Nothing if the testbed has no such controller.
  void start() override;
  void snapshot(control::FabricSnapshot& out) override;

 private:
  void look(dataplane::Instant now);
  std::vector<control::FlowDemand> measure(dataplane::Duration since);
  dataplane::Instant after(dataplane::Instant now) const;
  void install(const control::EngineeringPlan& plan, dataplane::Instant now);

  const control::Testbed& testbed_;
  dataplane::Engine& engine_;
  const RunFlows& flows_;
  LinkControl& links_;
  dataplane::Instant measured_;
  std::vector<uint64_t> sent_bytes_;  // by flow, on the wire, at the last measurement
  std::map<uint32_t, std::vector<control::Override>> planned_;
  control::EngineeringSnapshot counters_;
};

}  // namespace softspine::testbeds
