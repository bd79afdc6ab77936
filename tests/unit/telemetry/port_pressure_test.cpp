// SPDX-License-Identifier: Apache-2.0
// What `show pressure` answers, and what a client reads of it.
#include "control/report/port_pressure.hpp"

#include <gtest/gtest.h>

#include "control/report/fabric_map.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

using dataplane::DropReason;
using dataplane::Duration;

// h1 – tor1 – h2: ports 0 and 1 are the ToR's, 2 is h1's, 3 is h2's, which is outside.
Fabric one_rack() {
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

PortSnapshot pressed_port() {
  PortSnapshot port{.name = "Ethernet0", .up = true};
  port.link = {.packets = 10, .bytes = 1000};
  port.counters.rx_packets = 17;
  port.counters.drops[static_cast<size_t>(DropReason::kNoRoute)] = 6;
  port.counters.drops[static_cast<size_t>(DropReason::kPfcConsumed)] = 7;
  port.link_pause.time = Duration::ps(19);
  port.pauses[3] = {.paused = true, .stopping = true, .time = Duration::ps(70)};
  auto& queue = port.counters.queues[3];
  queue.packets = 8;
  queue.dropped_packets = 5;
  queue.ecn_marked_packets = 4;
  queue.current_bytes = 300;
  port.buffers.emplace();
  port.buffers->groups[3].counters.dropped_packets = 2;
  return port;
}

PortFills some_fills() {
  PortFills out(3);
  out[0].resize(2);
  out[0][0].queues[3] = {.bytes = 320, .limit_bytes = 640};
  out[0][0].groups[3] = {.bytes = 512, .limit_bytes = 256};
  return out;
}

FabricSnapshot a_moment() {
  FabricSnapshot now;
  now.instant = dataplane::Instant::at(Duration::us(5));
  now.switches.push_back(
      {.name = "tor1", .role = "tor", .ports = {pressed_port(), {.name = "Ethernet4", .up = false}}});
  HostPortSnapshot nic{.name = "eth0", .up = true};
  nic.link = {.packets = 2, .bytes = 128};
  nic.rx_packets = 9;
  nic.pause[3].paused = Duration::ps(11);
  now.hosts.push_back({.name = "h1", .ports = {nic}});
  now.hosts[0].counters.dropped[static_cast<size_t>(DropReason::kNoRoute)] = 1;
  EdgeSnapshot edge{.name = "h2", .kind = "tap", .port = "eth0", .up = true};
  edge.counters.arrived_packets = 3;
  edge.counters.in_drops[static_cast<size_t>(DropReason::kEdgeFull)] = 1;
  edge.counters.out_drops[static_cast<size_t>(DropReason::kEdgeFull)] = 2;
  edge.pause[5].paused = Duration::ps(13);
  now.edges.push_back(edge);
  return now;
}

TEST(PortPressure, IsARowForEachPortThatDidSomething) {
  const Json answer = pressure_json(pressure_of(one_rack(), a_moment(), some_fills()));
  EXPECT_EQ(answer["at_ps"], 5'000'000);
  // 24 bytes a frame beside its own: preamble, FCS, gap. A pause that ends at its port is no loss.
  EXPECT_EQ(answer["ports"], Json::parse("[[0,1240,10,17,6,19,[[3,70,3,8,5,4,300,320,640,512,256,2]]],"
                                         "[2,176,2,9,1,0,[[3,11,0,0,0,0,0,0,0,0,0,0]]],"
                                         "[3,0,0,3,3,0,[[5,13,0,0,0,0,0,0,0,0,0,0]]]]"));
  EXPECT_EQ(answer["down"], Json::parse("[1]"));
}

TEST(PortPressure, OfASnapshotKeptToOneNodeIsThatNodes) {
  FabricSnapshot now = a_moment();
  now.switches.clear();
  const Json answer = pressure_json(pressure_of(one_rack(), now, some_fills()));
  ASSERT_EQ(answer["ports"].size(), 2U);
  EXPECT_EQ(answer["ports"][0][0], 2);
}

TEST(PortPressure, IsReadAsItWasWritten) {
  const Fabric fabric = one_rack();
  const FabricPressure written = pressure_of(fabric, a_moment(), some_fills());
  const auto map = port_map_from(map_json("t", fabric));
  ASSERT_TRUE(map) << map.error();
  EXPECT_EQ(map->testbed, "t");
  ASSERT_EQ(map->ports.size(), 4U);
  EXPECT_EQ(map->ports[1].name, "tor1:Ethernet4");
  EXPECT_EQ(map->ports[1].peer, 3U);
  EXPECT_EQ(map->ports[1].rate_bps, 2'000'000'000U);
  const auto read = pressure_from(pressure_json(written), *map);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->at_ps, written.at_ps);
  EXPECT_EQ(read->ports, written.ports);
}

TEST(PortPressure, AnAnswerOfAnotherShapeIsAnError) {
  const auto map = port_map_from(map_json("t", one_rack()));
  ASSERT_TRUE(map);
  for (const char* answer : {"{}", "[]", "null", R"({"at_ps":1,"ports":[[4,0,0,0,0,0,[]]],"down":[]})",
                             R"({"at_ps":1,"ports":[[0,0,0,0,0,0,[[8,0,0,0,0,0,0,0,0,0,0,0]]]],"down":[]})",
                             R"({"at_ps":1,"ports":[[0,"x",0,0,0,0,[]]],"down":[]})",
                             R"({"at_ps":1,"ports":[[0]],"down":[]})", R"({"at_ps":1,"ports":[],"down":[4]})"}) {
    EXPECT_FALSE(pressure_from(Json::parse(answer), *map)) << answer;
  }
  for (const char* answer : {"{}", R"({"testbed":"t","nodes":[["n",1,[["p",1,5]]]]})", R"({"testbed":1,"nodes":[]})"}) {
    EXPECT_FALSE(port_map_from(Json::parse(answer))) << answer;
  }
}

}  // namespace
}  // namespace softspine::control
