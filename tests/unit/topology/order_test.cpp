// SPDX-License-Identifier: Apache-2.0
// Names, order and numbers: what a reader of a report relies on from run to run.
#include <gtest/gtest.h>

#include "control/topology/ports.hpp"
#include "tests/unit/topology/fabric_checks.hpp"

namespace softspine::control {
namespace {

using tests::testbed_of;
using Names = std::vector<std::string>;

Names all_names(const Fabric& fabric) {
  Names out;
  for (const FabricNode& node : fabric.nodes) out.push_back(node.name);
  return out;
}

constexpr const char* kTwoTors =
    "fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2,\n"
    "  host_link: {rate: 100Gbps, length: 5m}, fabric_link: {rate: 400Gbps, length: 40m}}\n";

TEST(Order, ATorThenItsHostsThenTheUpperTiers) {
  EXPECT_EQ(all_names(testbed_of(kTwoTors).fabric),
            (Names{"tor1", "h1", "h2", "tor2", "h3", "h4", "spine1", "spine2"}));
}

TEST(Order, AnAddedHostFollowsItsFirstTorAndOtherNodesComeLast) {
  const Fabric fabric = testbed_of(std::string(kTwoTors) +
                                   "topology:\n"
                                   "  nodes: {x: {kind: switch, role: core}, late: {kind: host}}\n"
                                   "  links:\n"
                                   "    - {endpoints: [late, spine1], rate: 1Gbps}\n"
                                   "    - {endpoints: [late, tor2], rate: 1Gbps}\n"
                                   "    - {endpoints: [late, tor1], rate: 1Gbps}\n"
                                   "    - {endpoints: [x, spine1], rate: 1Gbps}\n")
                            .fabric;
  EXPECT_EQ(all_names(fabric), (Names{"tor1", "h1", "h2", "late", "tor2", "h3", "h4", "spine1", "spine2", "x"}));
  tests::check_wiring(fabric);
  tests::check_addresses(fabric);
  EXPECT_EQ(fabric.subnets[fabric.nodes[tests::node_at(fabric, "late")].subnet].switches.size(), 3u);
}

TEST(Order, PortsAreNumberedByTheNumbersInTheirNames) {
  EXPECT_TRUE(port_before("Ethernet8", "Ethernet12"));
  EXPECT_FALSE(port_before("Ethernet12", "Ethernet8"));
  EXPECT_TRUE(port_before("Ethernet12", "PortChannel1"));
  EXPECT_TRUE(port_before("e", "e0"));
  const Fabric fabric = testbed_of(
                            "topology:\n"
                            "  nodes: {s: {kind: switch}, a: {kind: host}, b: {kind: host}, c: {kind: host}}\n"
                            "  links:\n"
                            "    - {endpoints: [\"s:Ethernet12\", a], rate: 1Gbps}\n"
                            "    - {endpoints: [\"s:Ethernet8\", b], rate: 1Gbps}\n"
                            "    - {endpoints: [s, c], rate: 1Gbps}\n")
                            .fabric;
  EXPECT_EQ(tests::neighbours(fabric, "s"), (Names{"c", "b", "a"}));
  const auto& ports = fabric.nodes[tests::node_at(fabric, "s")].ports;
  EXPECT_EQ(ports[0].name, "Ethernet0");
  EXPECT_EQ(ports[1].name, "Ethernet8");
  EXPECT_EQ(ports[2].name, "Ethernet12");
}

TEST(Order, AGeneratedFabricIsTheSameHoweverItsFileIsArranged) {
  const std::string one = std::string(kTwoTors) + "topology: {nodes: {h2: {address: 10.0.1.77}, tor2: {role: tor}}}\n";
  const std::string two = "topology: {nodes: {tor2: {role: tor}, h2: {address: 10.0.1.77}}}\n" + std::string(kTwoTors);
  const Fabric a = testbed_of(one).fabric;
  const Fabric b = testbed_of(two).fabric;
  ASSERT_EQ(all_names(a), all_names(b));
  for (size_t n = 0; n < a.nodes.size(); ++n) {
    EXPECT_EQ(a.nodes[n].ipv4, b.nodes[n].ipv4);
    EXPECT_EQ(a.nodes[n].ipv6, b.nodes[n].ipv6);
    for (size_t p = 0; p < a.nodes[n].ports.size(); ++p) EXPECT_EQ(a.nodes[n].ports[p].mac, b.nodes[n].ports[p].mac);
  }
}

TEST(Order, LinksHaveTheirRateLengthAndMtu) {
  const Fabric fabric = testbed_of(
                            "fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 1,\n"
                            "  host_link: {rate: 100Gbps, length: 198m, mtu: 5000}, fabric_link: {rate: 400Gbps}}\n"
                            "profiles: {default: {mtu: 4000}, wide: {mtu: 9000}}\n"
                            "roles: {aggregation: wide}\n")
                            .fabric;
  const FabricLink& host = fabric.links[fabric.nodes[tests::node_at(fabric, "h1")].ports[0].link];
  EXPECT_EQ(host.rate, dataplane::Rate::gbps(100));
  EXPECT_EQ(host.propagation, dataplane::Duration::us(1));
  EXPECT_EQ(host.mtu, 5000u);
  const FabricLink& fabric_link = fabric.links[fabric.nodes[tests::node_at(fabric, "spine1")].ports[0].link];
  EXPECT_EQ(fabric_link.mtu, 4000u);  // the smaller of its ends' profiles
}

}  // namespace
}  // namespace softspine::control
