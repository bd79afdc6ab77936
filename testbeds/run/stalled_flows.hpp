// SPDX-License-Identifier: Apache-2.0
// Which flows have not ended and cannot go on for want of a way, and why.
//
//   its port has no link       the flow waits there until the link is repaired. The flow goes on if its host's bond is
//                              about to look and has another port, also if that look would come after the end
//   its destination has none   all that is sent to it is lost
//   no route                   the switch before it drops what it sends
//   given up                   its reliable connection has timed out too often in a row
//   silence                    its reliable connection's packets were lost, and its ack_timeout is 0
// A flow whose open-loop packets were lost on their way and that has sent all of them has ended, short of what is
// missing.
#pragma once

#include <string>

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/run_flows.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class StalledFlows : public RunPart {
 public:
  // All must outlive it.
  StalledFlows(const control::Testbed& testbed, const dataplane::Engine& engine, const RunFlows& flows,
               const LinkControl& links)
      : fabric_(testbed.fabric), engine_(engine), flows_(flows), links_(links) {}

  // Fills FlowSnapshot::stalled of flows that are sent here. The flows of the snapshot are those of the run, in the
  // same order.
  void snapshot(control::FabricSnapshot& out) override;

 private:
  std::string why_stalled(size_t index, const control::FlowSnapshot& flow, bool is_over) const;
  std::string why_no_way(const PlannedFlow& plan, const SenderState& state) const;
  bool moves_from(control::LinkEnd port, const SenderState& state) const;
  bool has_link(control::LinkEnd port) const { return links_.up(fabric_.port(port).link); }
  bool has_route(const control::RouteTable& routes, uint32_t host) const;

  const control::Fabric& fabric_;
  const dataplane::Engine& engine_;
  const RunFlows& flows_;
  const LinkControl& links_;
};

}  // namespace softspine::testbeds
