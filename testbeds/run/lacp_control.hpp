// SPDX-License-Identifier: Apache-2.0
// LACP between switches and the outside hosts that bond their ports: which ports run it, and that routes follow it.
//
// Dual ToR without a link between the ToRs, as in Alibaba's HPN (SIGCOMM 2024): each ToR answers by itself, with the
// system 00:00:5E:00:01:01 and, for one host, the same key. The numbers of its ports are shifted by an offset of its
// own. So the host sees two ports of one system, and makes them one aggregate.
//
// The two switches of a stack (stack_control.hpp) do the same, with a system that is their own: the MAC address of the
// primary's first port.
//
//   key of a host     its place among its subnet's hosts, from 1
//   number of a port  (place among the subnet's switches + 1) × 1024 + port + 1
//
// A link on which LACP has not agreed carries no routed traffic: the host's route leaves it out (LinkControl), and
// others reach the host over its other ToR. It is looked at every 20 ms of the machine's time.
#pragma once

#include <string>
#include <vector>

#include "testbeds/run/assembly.hpp"
#include "testbeds/run/link_control.hpp"

namespace softspine::testbeds {

// What the switches of the subnet answer as.
dataplane::MacAddress lacp_system(const control::Fabric& fabric, const control::Subnet& subnet);

class LacpControl {
 public:
  // All three must outlive it. Before LinkControl::start(): every port that is to run LACP does.
  LacpControl(const control::Testbed& testbed, Assembly& assembly, LinkControl& links);

  // Before the first window.
  void start();

  // After the last window, or from an action: what a person should know of each port whose LACP has not gone as it
  // should.
  std::vector<std::string> notes() const;

 private:
  struct Port {
    control::LinkEnd end;  // the switch's
    bool used = false;
    bool was_used = false;
  };
  void run_at(uint32_t host, uint16_t port);
  void look(dataplane::Instant now);

  const control::Testbed& testbed_;
  Assembly& assembly_;
  LinkControl& links_;
  std::vector<Port> ports_;
};

}  // namespace softspine::testbeds
