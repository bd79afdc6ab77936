// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/outside_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "control/load/load.hpp"

namespace softspine::testbeds {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

control::Fabric fabric_of(const std::string& text) {
  auto testbed = control::parse_testbed(text, "it");
  if (!testbed) throw std::runtime_error(control::to_string(testbed.error().front()));
  return testbed->fabric;
}

OutsideSpec spec_of(const control::Fabric& fabric, const std::string& name) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].name == name) return outside_spec(fabric, n);
  }
  throw std::runtime_error("no host " + name);
}

constexpr const char* kTwoTors = R"(name: it
run: {clock: wall}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    tor2: {kind: switch, role: tor}
    h1: {kind: host, mac: "02:00:00:00:aa:01", guest: {kind: uml, run: "true"}}
    h2: {kind: host, namespace: {}}
    h3: {kind: host, edge: {tap: {name: fabric0}}}
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps, mtu: 4200}
    - {endpoints: [tor2, h1], rate: 10Gbps, mtu: 9000}
    - {endpoints: [tor1, h2], rate: 10Gbps}
    - {endpoints: [tor1, h3], rate: 10Gbps}
)";

TEST(OutsideSpec, SaysWhatAHostBehindTwoSwitchesNeeds) {
  const auto fabric = fabric_of(kTwoTors);
  const auto spec = spec_of(fabric, "h1");
  EXPECT_EQ(spec.ports, 2U);
  EXPECT_EQ(spec.mac, "02:00:00:00:aa:01");
  EXPECT_EQ(spec.mtu, 4200U) << "the smaller of its links";
  EXPECT_EQ(spec.addresses.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<control::Guest>(spec.attachment));
}

TEST(OutsideSpec, GivesAddressesTheirSubnetsLengthAndGateways) {
  const auto fabric = fabric_of(kTwoTors);
  const auto spec = spec_of(fabric, "h2");
  const auto& subnet = fabric.subnets[fabric.nodes[3].subnet];
  EXPECT_THAT(spec.gateways, ElementsAre(to_string(subnet.gateway4), to_string(subnet.gateway6)));
  EXPECT_TRUE(spec.addresses[0].ends_with("/24")) << spec.addresses[0];
  EXPECT_TRUE(spec.addresses[1].ends_with("/64")) << spec.addresses[1];
}

TEST(OutsideSpec, WaitsOnlyForHostsThatRunSomething) {
  const auto fabric = fabric_of(kTwoTors);
  EXPECT_TRUE(has_command(spec_of(fabric, "h1")));
  EXPECT_FALSE(has_command(spec_of(fabric, "h2")));
  EXPECT_FALSE(has_command(spec_of(fabric, "h3")));
}

TEST(OutsideSpec, BondsByLacpOverTwoSwitchesUnlessItIsToldNotTo) {
  const auto mode = [](const std::string& bond, const std::string& second) {
    const auto fabric = fabric_of(
        "name: it\nrun: {clock: wall}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n"
        "    tor2: {kind: switch, role: tor}\n"
        "    h1: {kind: host, edge: [{tap: {name: a}}, {tap: {name: b}}]" +
        bond + "}\n  links:\n    - {endpoints: [tor1, h1], rate: 10Gbps}\n    - {endpoints: [" + second +
        ", h1], rate: 10Gbps}\n    - {endpoints: [tor1, tor2], rate: 10Gbps}\n");
    const OutsideSpec spec = spec_of(fabric, "h1");
    const auto h1 = std::ranges::find(fabric.nodes, "h1", &control::FabricNode::name) - fabric.nodes.begin();
    EXPECT_EQ(bonds_by_lacp(fabric, static_cast<uint32_t>(h1)), spec.bond_mode == "802.3ad");
    return spec.bond_mode;
  };
  EXPECT_EQ(mode("", "tor2"), "802.3ad");
  EXPECT_EQ(mode("", "tor1"), "balance-xor") << "two ports at one switch";
  EXPECT_EQ(mode(", bond: {mode: balance-xor}", "tor2"), "balance-xor");
  EXPECT_EQ(mode(", bond: {mode: active-backup}", "tor2"), "active-backup");
  EXPECT_EQ(spec_of(fabric_of(kTwoTors), "h3").bond_mode, "") << "one port";
}

TEST(OutsideSpec, AVerbsHostsNicsAreThoseOfItsServerAndItsBondHasNoLacp) {
  const auto fabric = fabric_of(R"(name: it
run: {clock: wall}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    tor2: {kind: switch, role: tor}
    h1: {kind: host, server: one, verbs: {}}
    h2: {kind: host, server: one, namespace: {}}
    h3: {kind: host, server: one, verbs: {}}
    h4: {kind: host, verbs: {}}
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps}
    - {endpoints: [tor1, h2], rate: 10Gbps}
    - {endpoints: [tor2, h3], rate: 10Gbps}
    - {endpoints: [tor1, h4], rate: 10Gbps}
    - {endpoints: [tor2, h4], rate: 10Gbps}
)");
  EXPECT_THAT(spec_of(fabric, "h1").nics, ElementsAre("h1", "h3"));
  EXPECT_THAT(spec_of(fabric, "h3").nics, ElementsAre("h1", "h3"));
  EXPECT_THAT(spec_of(fabric, "h4").nics, ElementsAre("h4"));
  EXPECT_EQ(spec_of(fabric, "h4").bond_mode, "balance-xor");
}

TEST(OutsideSpec, HasNoGatewayBetweenHostsBackToBack) {
  const auto fabric = fabric_of(R"(name: it
run: {clock: wall}
topology:
  nodes:
    h1: {kind: host, namespace: {}}
    h2: {kind: host, namespace: {}}
  links:
    - {endpoints: [h1, h2], rate: 10Gbps}
)");
  EXPECT_THAT(spec_of(fabric, "h1").gateways, IsEmpty());
  EXPECT_EQ(spec_of(fabric, "h1").addresses.size(), 2U);
}

}  // namespace
}  // namespace softspine::testbeds
