// SPDX-License-Identifier: Apache-2.0
// What the live page draws: ports by number, each with the counters of its own transmitter.
#include "control/report/fabric_map.hpp"

#include <gtest/gtest.h>

#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;

// h1 – tor1 – h2: ports 0 and 1 are the ToR's, 2 is h1's, 3 is h2's, which is outside.
Fabric two_hosts() {
  Fabric fabric;
  fabric.nodes.resize(3);
  fabric.nodes[0] = {.name = "tor1", .kind = NodeKind::kSwitch, .role = Role::kTor};
  fabric.nodes[0].ports = {{.name = "Ethernet0", .mac = {}, .link = 0}, {.name = "Ethernet4", .mac = {}, .link = 1}};
  for (uint32_t n : {1U, 2U}) {
    fabric.nodes[n].name = "h" + std::to_string(n);
    fabric.nodes[n].ports = {{.name = "eth0", .mac = {}, .link = n - 1}};
    FabricLink link;
    link.a = {.node = 0, .port = static_cast<uint16_t>(n - 1)};
    link.b = {.node = n, .port = 0};
    link.rate = dataplane::Rate::gbps(n);
    fabric.links.push_back(link);
  }
  return fabric;
}

FabricSnapshot some_traffic() {
  FabricSnapshot now;
  now.instant = dataplane::Instant::at(Duration::us(5));
  PortSnapshot first{.name = "Ethernet0", .up = true};
  first.link = {.packets = 10, .bytes = 1000};
  first.pauses[3].time = Duration::ps(70);
  first.pauses[4].time = Duration::ps(90);
  first.counters.queues[2].current_bytes = 300;
  first.counters.queues[5].current_bytes = 400;
  first.counters.drops[static_cast<size_t>(dataplane::DropReason::kNoRoute)] = 6;
  first.counters.drops[static_cast<size_t>(dataplane::DropReason::kPfcConsumed)] = 7;
  PortSnapshot second{.name = "Ethernet4", .up = false};
  now.switches.push_back({.name = "tor1", .role = "tor", .ports = {first, second}});
  HostPortSnapshot nic{.name = "eth0", .up = true};
  nic.link = {.packets = 2, .bytes = 128};
  nic.link_pause.time = Duration::ps(11);
  now.hosts.push_back({.name = "h1", .ports = {nic}});
  now.hosts[0].counters.dropped[static_cast<size_t>(dataplane::DropReason::kNoRoute)] = 1;
  EdgeSnapshot edge{.name = "h2", .kind = "tap"};
  edge.port = "eth0";
  edge.link = {.packets = 1, .bytes = 60};
  now.edges.push_back(edge);
  return now;
}

TEST(FabricMap, NumbersPortsInTheOrderOfNodes) {
  const Json map = map_json("t", two_hosts());
  EXPECT_EQ(map["testbed"], "t");
  EXPECT_EQ(map["nodes"][0], Json::parse(R"(["tor1",1,[["Ethernet0",2,1000000000],["Ethernet4",3,2000000000]]])"));
  EXPECT_EQ(map["nodes"][2], Json::parse(R"(["h2",0,[["eth0",1,2000000000]]])"));
}

TEST(FabricLoads, AreThoseOfEachPortsTransmitter) {
  const Json loads = loads_json(two_hosts(), some_traffic());
  EXPECT_EQ(loads["at_ps"], 5'000'000);
  // 24 bytes a frame beside its own: preamble, FCS, gap.
  EXPECT_EQ(loads["ports"], Json::parse("[[0,1240,90,5,400,6],[2,176,11,0,0,0],[3,84,0,0,0,0]]"));
  EXPECT_EQ(loads["down"], Json::parse("[1,3]"));
  EXPECT_EQ(loads["drops"], (Json{{"no_route", 7}})) << "a pause that ends at its port is no loss";
}

}  // namespace
}  // namespace softspine::control
