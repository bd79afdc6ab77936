// SPDX-License-Identifier: Apache-2.0
// What a testbed file says about the NICs of hosts that are outside.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::CongestionParameters;
using dataplane::Duration;
using dataplane::Rate;
using dataplane::ReactionParameters;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

HostNic nic_of(const std::string& nic) {
  const Testbed testbed =
      read_well(with_fabric("topology: {nodes: {h2: {edge: {pcap: {in: x}}, nic: " + nic + "}}}\n"));
  for (const FabricNode& node : testbed.fabric.nodes) {
    if (node.name == "h2") return node.nic;
  }
  ADD_FAILURE() << "h2 is not there";
  return {};
}

TEST(Nic, ObeysWhatItsSwitchPausesAndDoesNothingElseByItself) {
  const HostNic nic = nic_of("{}");
  EXPECT_FALSE(nic.pfc_enable);
  EXPECT_TRUE(nic.parameters.rate.is_zero());
  EXPECT_FALSE(controls_congestion(nic.parameters.congestion_control));
  EXPECT_EQ(nic.parameters.cnp_dscp, 48);
  EXPECT_EQ(nic.parameters.cnp_interval, Duration::us(50));
  EXPECT_FALSE(nic.parameters.dscp);
  EXPECT_EQ(nic.parameters.source_port, 0);
}

TEST(Nic, ReadsEveryKey) {
  const HostNic nic = nic_of(
      "{pfc_enable: [3, 4], rate: 5Gbps, congestion_control: dcqcn_connectx, cnp_dscp: 46, cnp_interval: 4us, dscp: 3, "
      "source_port: 49152}");
  EXPECT_EQ(nic.pfc_enable, 0x18);
  EXPECT_EQ(nic.parameters.rate, Rate::gbps(5));
  EXPECT_TRUE(nic.parameters.congestion_control == CongestionParameters{ReactionParameters::connectx()});
  EXPECT_EQ(nic.parameters.cnp_dscp, 46);
  EXPECT_EQ(nic.parameters.cnp_interval, Duration::us(4));
  EXPECT_EQ(nic.parameters.dscp, 3);
  EXPECT_EQ(nic.parameters.source_port, 49'152);
}

TEST(Nic, LeavesPausesToTheAdapterBehindIt) {
  const HostNic nic = nic_of("{relay_pfc: true}");
  EXPECT_TRUE(nic.parameters.relay_pfc);
  EXPECT_EQ(nic.pfc_enable, 0) << "whatever its switch pauses";
  EXPECT_EQ(
      complaints_about(with_fabric("topology:\n  nodes:\n"
                                   "    h1: {namespace: {}, nic: {relay_pfc: true}}\n"
                                   "    h2: {edge: {pcap: {in: x}}, nic: {relay_pfc: true, pfc_enable: [3]}}\n")),
      (Complaints{
          "6 topology.nodes.h1.nic.relay_pfc: needs an 'edge' with an adapter behind it: a kernel obeys no pauses",
          "7 topology.nodes.h2.nic.relay_pfc: contradicts 'pfc_enable': one of the two adapters obeys"}));
}

TEST(Nic, CanBeToldToObeyNothing) {
  EXPECT_EQ(nic_of("{pfc_enable: []}").pfc_enable, 0);
}

TEST(Nic, RefusesWhatItCannotDo) {
  EXPECT_EQ(
      complaints_about(
          with_fabric("topology:\n  nodes:\n"
                      "    h1: {nic: {dscp: 3}}\n"
                      "    tor1: {nic: {dscp: 3}}\n"
                      "    h2: {edge: {pcap: {in: x}}, nic: {cnp_dscp: 3, cnp_interval: 1us}}\n"
                      "    h4: {edge: {pcap: {in: z}}, nic: {congestion_control: timely}}\n"
                      "    h3: {edge: {pcap: {in: y}}, nic: {pfc_enable: [8], dscp: 64, source_port: 0}}\n")),
      (Complaints{
          "6 topology.nodes.h1.nic: h1 is built in, and its own NIC: its workload says what it does",
          "7 topology.nodes.tor1.nic: is for hosts, and tor1 is a switch",
          "8 topology.nodes.h2.nic.cnp_dscp: needs 'congestion_control'",
          "8 topology.nodes.h2.nic.cnp_interval: needs 'congestion_control'",
          "9 topology.nodes.h4.nic.congestion_control: is for built-in hosts: a NIC has CNPs alone to go by (DCQCN)",
          "10 topology.nodes.h3.nic.pfc_enable[0]: expected a priority from 0 to 7, found '8'",
          "10 topology.nodes.h3.nic.dscp: must be at most 63, not '64'",
          "10 topology.nodes.h3.nic.source_port: must be at least 1, not '0'"}));
}

TEST(Nic, ABuiltInHostsHasAWatchdogIfItIsSaid) {
  const Testbed testbed = read_well(with_fabric("topology: {nodes: {h1: {pfc_watchdog: 100ms}}}\n"));
  const auto watchdog_of = [&](std::string_view name) {
    return std::ranges::find(testbed.fabric.nodes, name, &FabricNode::name)->builtin.pfc_watchdog;
  };
  EXPECT_EQ(watchdog_of("h1"), dataplane::Duration::ms(100));
  EXPECT_EQ(watchdog_of("h2"), dataplane::Duration{});
  EXPECT_EQ(complaints_about(with_fabric("topology:\n  nodes:\n"
                                         "    h1: {edge: {pcap: {in: x}}, pfc_watchdog: 1ms}\n"
                                         "    tor1: {pfc_watchdog: 1ms}\n")),
            (Complaints{"6 topology.nodes.h1.pfc_watchdog: is for built-in hosts, and something else stands behind h1",
                        "7 topology.nodes.tor1.pfc_watchdog: is for hosts, and tor1 is a switch"}));
}

}  // namespace
}  // namespace softspine::control
