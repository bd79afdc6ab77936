// SPDX-License-Identifier: Apache-2.0
#include "control/topology/address_plan.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topology/fabric_checks.hpp"

namespace softspine::control {
namespace {

using tests::node_at;
using tests::testbed_of;

std::string fabric_of(uint32_t tors, uint32_t hosts) {
  return "fabric: {kind: leaf-spine, tors: " + std::to_string(tors) +
         ", spines: 1, hosts_per_tor: " + std::to_string(hosts) +
         ", host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\n";
}

std::string v4(const Fabric& fabric, std::string_view node) {
  return to_string(fabric.nodes[node_at(fabric, node)].ipv4);
}
std::string v6(const Fabric& fabric, std::string_view node) {
  return to_string(fabric.nodes[node_at(fabric, node)].ipv6);
}

TEST(AddressPlan, IsTheOneOfItsHeader) {
  const Fabric fabric = testbed_of(fabric_of(2, 2)).fabric;
  EXPECT_EQ(to_string(fabric.subnets[0].v4), "10.0.1.0/24");
  EXPECT_EQ(to_string(fabric.subnets[1].v4), "10.0.2.0/24");
  EXPECT_EQ(to_string(fabric.subnets[1].v6), "fd00:0:0:2::/64");
  EXPECT_EQ(v4(fabric, "h1"), "10.0.1.2");
  EXPECT_EQ(v4(fabric, "h4"), "10.0.2.3");
  EXPECT_EQ(v6(fabric, "h4"), "fd00:0:0:2::3");
  EXPECT_EQ(v4(fabric, "tor1"), "10.255.0.1");
  EXPECT_EQ(v6(fabric, "tor2"), "fd00:ffff::2");
  EXPECT_EQ(to_string(fabric.nodes[1].ports[0].mac), "02:00:00:01:00:00");
}

TEST(AddressPlan, GivesASubnetAsManyAddressesAsItHasHosts) {
  EXPECT_EQ(testbed_of(fabric_of(1, 253)).fabric.subnets[0].v4.length, 24);
  const Fabric fabric = testbed_of(fabric_of(2, 254)).fabric;
  EXPECT_EQ(to_string(fabric.subnets[0].v4), "10.0.2.0/23");
  EXPECT_EQ(to_string(fabric.subnets[1].v4), "10.0.4.0/23");
  tests::check_addresses(fabric);
}

TEST(AddressPlan, LeavesOutWhatTheFileGives) {
  const Fabric fabric =
      testbed_of(fabric_of(4, 3) +
                 "topology: {nodes: {\n"
                 "  tor2: {subnet: [10.0.0.0/22, \"2001:db8:7::/64\"]},\n"
                 "  h1: {address: [\"fd00:0:0:1::2\"]}, h2: {address: 10.0.4.3}, h4: {address: 10.0.3.254}}}\n")
          .fabric;
  tests::check_addresses(fabric);
  EXPECT_EQ(to_string(fabric.subnets[0].v4), "10.0.4.0/24");
  EXPECT_EQ(to_string(fabric.subnets[1].v4), "10.0.0.0/22");
  EXPECT_EQ(to_string(fabric.subnets[2].v4), "10.0.5.0/24");
  EXPECT_EQ(v4(fabric, "h4"), "10.0.3.254");
  EXPECT_EQ(v6(fabric, "h4"), "2001:db8:7::2");
  EXPECT_EQ(v4(fabric, "h5"), "10.0.0.3");  // one number for both of a host's addresses
  EXPECT_EQ(v6(fabric, "h5"), "2001:db8:7::3");
}

TEST(AddressPlan, ATwoTorHostSharesItsSubnetWithThoseOnTheSameTwo) {
  const Fabric fabric = testbed_of(fabric_of(2, 1) +
                                   "topology:\n"
                                   "  nodes: {a: {kind: host}, b: {kind: host}}\n"
                                   "  links:\n"
                                   "    - {endpoints: [a, tor1], rate: 1Gbps}\n"
                                   "    - {endpoints: [a, tor2], rate: 1Gbps}\n"
                                   "    - {endpoints: [tor2, b], rate: 1Gbps}\n"
                                   "    - {endpoints: [tor1, b], rate: 1Gbps}\n")
                            .fabric;
  tests::check_addresses(fabric);
  const FabricNode& a = fabric.nodes[node_at(fabric, "a")];
  const FabricNode& b = fabric.nodes[node_at(fabric, "b")];
  EXPECT_EQ(a.subnet, b.subnet);
  EXPECT_EQ(fabric.subnets[a.subnet].switches, (std::vector{node_at(fabric, "tor1"), node_at(fabric, "tor2")}));
  EXPECT_EQ(fabric.subnets.size(), 3u);
  EXPECT_EQ(a.ports[0].mac, a.ports[1].mac);
}

TEST(AddressPlan, HostsBackToBackShareASubnetWithoutAGateway) {
  const Fabric fabric = testbed_of(
                            "topology: {nodes: {a: {kind: host}, b: {kind: host}}, links: [{endpoints: [a, b], "
                            "rate: 1Gbps}]}\n")
                            .fabric;
  ASSERT_EQ(fabric.subnets.size(), 1u);
  EXPECT_TRUE(fabric.subnets[0].switches.empty());
  EXPECT_EQ(fabric.subnets[0].hosts.size(), 2u);
  EXPECT_EQ(v4(fabric, "a"), "10.0.1.2");
  EXPECT_EQ(v4(fabric, "b"), "10.0.1.3");
}

TEST(AddressPlan, SaysWhenTheAddressesRunOut) {
  const auto testbed = parse_testbed(
      "name: t\nfabric: {kind: ai-zone, zones: 70, racks: 1000, servers_per_rack: 1, nics_per_server: 1,"
      " ctsws: 1, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\n",
      "t.yaml");
  ASSERT_FALSE(testbed);
  ASSERT_EQ(testbed.error().size(), 2u);
  EXPECT_EQ(testbed.error()[0].message, "more than 65534 switches: their loopback addresses run out");
  EXPECT_EQ(testbed.error()[1].message, "the hosts' IPv4 addresses run out (10.0.1.0 to 10.254.255.255)");
}

TEST(AddressPlan, RefusesMorePortsThanANodeHas) {
  std::string text = "name: t\ntopology:\n  nodes:\n    s: {kind: switch}\n    h: {kind: host}\n  links:\n";
  for (int i = 0; i < 70'000; ++i) text += "    - {endpoints: [s, h], rate: 1Gbps}\n";
  const auto testbed = parse_testbed(text + "workload: [{name: w, pattern: ring, hosts: [h, h]}]\n", "t.yaml");
  ASSERT_FALSE(testbed);
  ASSERT_EQ(testbed.error().size(), 2u);
  EXPECT_EQ(testbed.error()[0].message, "s has 70000 ports, at most 4096");
}

}  // namespace
}  // namespace softspine::control
