// SPDX-License-Identifier: Apache-2.0
// LACP at switches: which ports run it, and that routes and LAGs follow it.
//
// Between switches: each end of a LAG's links, as the system of its own router MAC (its first port's), the LAG's key,
// and the port's number, from 1. A link is a member while both ends distribute.
//
// Between switches and the outside hosts that bond their ports, and built-in hosts whose bond has a lacp_rate:
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
// A built-in host is the system of its own MAC, and both ends have agreed before the run. One end learns of the other's
// state by a LACPDU, as with any host: by three periods of silence (or `retry_count` of them), and its partner learns
// that three seconds later.
//
// A link on which LACP has not agreed carries no routed traffic: the host's route leaves it out (LinkControl), and
// others reach the host over its other ToR; a switch that has no other way drops. Links are looked at every 20 ms of
// the machine's time, on the virtual clock every 20 ms.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

// The system that the switches of the subnet answer as.
dataplane::MacAddress lacp_system(const control::Fabric& fabric, const control::Subnet& subnet);

class LacpControl : public RunPart {
 public:
  // All three must outlive it. Before LinkControl::start(): every port that is to run LACP does.
  LacpControl(const control::Testbed& testbed, const LocalNodes& nodes, LinkControl& links);

  void start() override;
  void finish(dataplane::Instant now) override;
  // After the last window: what a person should know of each port whose LACP has not gone as it should.
  std::vector<std::string> notes() const override;

 private:
  struct Port {
    control::LinkEnd end;  // the switch's
    uint32_t number = 0;   // of all, wherever they are
    bool was_used = false;
  };
  struct Note {
    uint32_t port = 0;  // its number
    std::string text;
  };
  void run_at(uint32_t host, uint16_t port);
  void run_with_builtin(uint32_t host, uint16_t port);
  dataplane::LacpConfig config_towards(uint32_t host, control::LinkEnd end) const;
  void run_at(const control::Lag& lag, uint16_t key);
  // `partner`: LACP has agreed with it before the run.
  void add(control::LinkEnd end, const dataplane::LacpConfig& config,
           const std::optional<dataplane::LacpEnd>& partner = std::nullopt);
  const dataplane::LacpPort& machine_at(control::LinkEnd end) const;
  // By link, at each end that runs LACP here, and over all ranks.
  std::map<uint32_t, bool> agreed_here() const;
  std::map<uint32_t, bool> agreed() const;
  void look(dataplane::Instant now);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  LinkControl& links_;
  std::vector<Port> ports_;  // of switches that are here
  uint32_t all_ports_ = 0;
  std::map<uint32_t, bool> used_;   // by link
  std::vector<std::string> notes_;  // after the run
};

}  // namespace softspine::testbeds
