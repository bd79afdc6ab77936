// SPDX-License-Identifier: Apache-2.0
// What a testbed file says about the VLANs of hosts.
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::node_of;
using tests::read_well;
using tests::with_fabric;

const Subnet& subnet_of(const Testbed& testbed, const std::string& host) {
  return testbed.fabric.subnets.at(node_of(testbed, host).subnet);
}
std::string with_nodes(const std::string& nodes) {
  return with_fabric("topology:\n  nodes:\n" + nodes);
}

TEST(Vlan, ItsNumberAloneMakesATaggedMember) {
  const Testbed testbed = read_well(with_nodes("    h1: {vlan: 100}\n"));
  const HostVlan& vlan = node_of(testbed, "h1").vlan;
  EXPECT_EQ(vlan.id, 100);
  EXPECT_TRUE(vlan.is_tagged);
  EXPECT_FALSE(vlan.pcp);
  EXPECT_EQ(node_of(testbed, "h2").vlan.id, 0);
  EXPECT_FALSE(node_of(testbed, "h2").vlan.is_tagged);
}

TEST(Vlan, AMapHasSonicsWords) {
  const Testbed testbed =
      read_well(with_nodes("    h1: {vlan: {id: 4094, pcp: 7}}\n    h2: {vlan: {id: 1, tagging_mode: untagged}}\n"));
  EXPECT_EQ(node_of(testbed, "h1").vlan.id, 4094);
  EXPECT_EQ(node_of(testbed, "h1").vlan.pcp, 7);
  EXPECT_EQ(node_of(testbed, "h2").vlan.id, 1);
  EXPECT_FALSE(node_of(testbed, "h2").vlan.is_tagged);
}

TEST(Vlan, AFabricsIsThatOfItsHostsThatHaveNoneOfTheirOwn) {
  const Testbed testbed = read_well(
      "name: t\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_vlan: {id: 10, pcp: 3},\n"
      "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\ntopology: {nodes: {h2: {vlan: 20}}}\n");
  EXPECT_EQ(node_of(testbed, "h1").vlan.id, 10);
  EXPECT_EQ(node_of(testbed, "h1").vlan.pcp, 3);
  EXPECT_EQ(node_of(testbed, "h2").vlan.id, 20);
  EXPECT_FALSE(node_of(testbed, "h2").vlan.pcp) << "whole, or not at all";
}

// Linux gives PCP 0 to all that it tags without an egress-qos-map, whatever the fabric's built-in hosts have.
TEST(Vlan, OfAHostOutsideHasThePcpOfLinux) {
  const Testbed testbed = read_well(
      "name: t\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 3, host_vlan: {id: 10, pcp: 3},\n"
      "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
      "topology: {nodes: {h1: {namespace: {}}, h2: {vlan: {id: 11}, namespace: {}}}}\n");
  EXPECT_EQ(node_of(testbed, "h1").vlan.pcp, 0);
  EXPECT_EQ(node_of(testbed, "h2").vlan.pcp, 0);
  EXPECT_EQ(node_of(testbed, "h3").vlan.pcp, 3);
}

TEST(Vlan, ItsHostsShareASubnetThatIsNotTheOthers) {
  const Testbed plain = read_well(with_fabric(""));
  EXPECT_EQ(&subnet_of(plain, "h1"), &subnet_of(plain, "h2"));
  const Testbed apart = read_well(with_nodes("    h1: {vlan: 100}\n    h3: {vlan: 100}\n"));
  EXPECT_EQ(to_string(subnet_of(apart, "h1").v4), "10.0.1.0/24");
  EXPECT_EQ(to_string(subnet_of(apart, "h2").v4), "10.0.2.0/24");
  EXPECT_EQ(to_string(subnet_of(apart, "h3").v4), "10.0.3.0/24") << "of another ToR";
  EXPECT_EQ(to_string(node_of(apart, "h2").ipv4), "10.0.2.2");
  const Testbed together =
      read_well(with_nodes("    h1: {vlan: 100}\n    h2: {vlan: {id: 100, tagging_mode: untagged}}\n"));
  EXPECT_EQ(&subnet_of(together, "h1"), &subnet_of(together, "h2"));
  EXPECT_EQ(subnet_of(together, "h1").vlan, 100);
}

TEST(Vlan, WhatIsNoVlanIsRefusedWhereItStands) {
  const auto said = [](const std::string& vlan) {
    return complaints_about(with_nodes("    h1: {vlan: " + vlan + "}\n"));
  };
  EXPECT_EQ(said("0"), (Complaints{"6 topology.nodes.h1.vlan: must be at least 1, not '0'"}));
  EXPECT_EQ(said("4095"), (Complaints{"6 topology.nodes.h1.vlan: must be at most 4094, not '4095'"}));
  EXPECT_EQ(said("{id: 4095}"), (Complaints{"6 topology.nodes.h1.vlan.id: must be at most 4094, not '4095'"}));
  EXPECT_EQ(said("{id: 9, pcp: 8}"), (Complaints{"6 topology.nodes.h1.vlan.pcp: must be at most 7, not '8'"}));
  EXPECT_EQ(said("{pcp: 3}").size(), 1u);
  EXPECT_EQ(said("{id: 9, pcp: 3, tagging_mode: untagged}"),
            (Complaints{"6 topology.nodes.h1.vlan.pcp: is part of a tag, and 'tagging_mode' is untagged"}));
}

TEST(Vlan, IsAToRsAndAHosts) {
  EXPECT_EQ(complaints_about(with_nodes("    tor1: {vlan: 9}\n")),
            (Complaints{"6 topology.nodes.tor1.vlan: is for hosts, and tor1 is a switch"}));
  EXPECT_EQ(
      complaints_about(with_fabric("topology:\n  nodes: {x: {kind: host, vlan: 9}}\n"
                                   "  links: [{endpoints: [x, spine1], rate: 100Gbps}]\n")),
      (Complaints{"5 topology.nodes.x.vlan: x is linked to spine1, of role aggregation, whose ports are routed"}));
  EXPECT_EQ(complaints_about("name: t\ntopology:\n  nodes: {a: {kind: host, vlan: 9}, b: {kind: host}}\n"
                             "  links: [{endpoints: [a, b], rate: 100Gbps}]\n"),
            (Complaints{"3 topology.nodes.a.vlan: a is linked to b, a host: VLANs are a switch's"}));
  EXPECT_EQ(
      complaints_about(with_nodes("    h1: {vlan: {id: 9, pcp: 3}, namespace: {}}\n")),
      (Complaints{"6 topology.nodes.h1.vlan.pcp: is for built-in hosts: what stands behind h1 makes its tags itself"}));
}

// A VLAN of a ToR is one subnet, whose hosts are at the same ToRs.
TEST(Vlan, HasNoHostsOfOneAndOfTwoToRs) {
  const std::string both =
      "topology:\n  links: [{endpoints: [h1, tor2], rate: 100Gbps}]\n  nodes:\n    h1: {vlan: 9}\n";
  EXPECT_EQ(complaints_about(with_fabric(both)), Complaints{});
  EXPECT_EQ(complaints_about(with_fabric(both + "    h2: {vlan: 10}\n")), Complaints{});
  EXPECT_EQ(complaints_about(with_fabric(both + "    h2: {vlan: 9}\n")),
            (Complaints{"8 topology.nodes.h2.vlan: h2 and h1 meet at tor1 in VLAN 9, and one of them is at another "
                        "switch, too: give them VLANs of their own"}));
}

PortMaps maps_of(const std::string& profile, const std::string& port = "Ethernet0") {
  const Testbed testbed = read_well(with_fabric("roles: {tor: mine}\nprofiles: {mine: {" + profile + "}}\n"));
  return testbed.profiles.at(node_of(testbed, "tor1").profile).maps_at(port);
}

// As SAI has it: a map at a port is trust in what it maps.
TEST(Vlan, APortThatMapsPcpAloneTrustsItAndNoDscp) {
  const std::string tables = "DSCP_TO_TC_MAP: {D: {26: 3}}, DOT1P_TO_TC_MAP: {P: {5: 2}}, ";
  const std::string pcp = "DOT1P_TO_TC_MAP: {P: {5: 2}}, PORT_QOS_MAP: {global: {dot1p_to_tc_map: P}}";
  EXPECT_TRUE(maps_of(pcp).trusts_pcp);
  EXPECT_EQ(maps_of(pcp).dot1p_to_tc[5], 2);
  EXPECT_EQ(maps_of(pcp).dscp_to_tc[3], 0);
  EXPECT_FALSE(maps_of(tables + "PORT_QOS_MAP: {global: {dot1p_to_tc_map: P, dscp_to_tc_map: D}}").trusts_pcp);
  EXPECT_FALSE(maps_of("DOT1P_TO_TC_MAP: {P: {5: 2}}").trusts_pcp) << "no port has it";
  const std::string apart =
      tables + "PORT_QOS_MAP: {Ethernet0: {dot1p_to_tc_map: P}, Ethernet4: {dscp_to_tc_map: D, dot1p_to_tc_map: P}}";
  EXPECT_TRUE(maps_of(apart, "Ethernet0").trusts_pcp);
  EXPECT_FALSE(maps_of(apart, "Ethernet4").trusts_pcp);
  EXPECT_EQ(maps_of(apart, "Ethernet4").dscp_to_tc[26], 3);
}

TEST(Vlan, AHostsPacketHasTheClassOfItsTagWherePcpIsTrusted) {
  PortMaps maps;
  const HostVlan tagged{.id = 9, .is_tagged = true, .pcp = {}};
  EXPECT_EQ(pcp_of(tagged, maps, 3), 3) << "as its DSCP's class";
  EXPECT_EQ(class_of(tagged, maps, 3), 3);
  maps.trusts_pcp = true;
  maps.dscp_to_tc.fill(0);
  maps.dot1p_to_tc = {7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(pcp_of(tagged, maps, 3), 3) << "AZURE's class";
  EXPECT_EQ(class_of(tagged, maps, 3), 4);
  EXPECT_EQ(class_of({.id = 9, .is_tagged = true, .pcp = 6}, maps, 3), 1);
  EXPECT_EQ(class_of({}, maps, 3), 0) << "no tag, no class";
}

}  // namespace
}  // namespace softspine::control
