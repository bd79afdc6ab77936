// SPDX-License-Identifier: Apache-2.0
// A fabric of two ToRs, two core switches and two hosts after 10 µs, with numbers that can be added by hand:
//
//   h1:eth0 – tor1:Ethernet0    tor1:Ethernet4 – core1:Ethernet0    tor1:Ethernet8 – core2:Ethernet0
//   h2:eth0 – tor2:Ethernet0    tor2:Ethernet4 – core1:Ethernet4    tor2:Ethernet8 – core2:Ethernet4
//
// h1 sent 100 frames of 1000 bytes. tor1 sent 60 of them to core1 and 20 to core2, dropped 15 (queue full) and one
// (no route), holds 4; it consumed a PFC frame from h1 and made one ARP answer for it. tor2 and the cores saw the 80;
// h2 got 79, and one whose ICRC was wrong. h2 sent three PFC frames while its link was down. So 17 are missing and 4
// under way, and everything adds up (control/telemetry/audit.hpp).
#pragma once

#include "control/telemetry/snapshot.hpp"

namespace softspine::tests {

inline control::PortSnapshot small_port(const std::string& name, uint64_t rx, uint64_t tx, uint64_t bytes = 1000) {
  control::PortSnapshot port{.name = name, .up = true, .rate = dataplane::Rate::gbps(100)};
  port.counters.rx_packets = rx;
  port.counters.rx_bytes = rx * bytes;
  port.counters.tx_packets = tx;
  port.counters.tx_bytes = tx * bytes;
  port.counters.queues[3].packets = tx;
  port.counters.queues[3].bytes = tx * bytes;
  port.link = {.packets = tx, .bytes = tx * bytes};
  return port;
}

inline control::SwitchSnapshot small_tor1() {
  using dataplane::DropReason;
  control::SwitchSnapshot tor{.name = "tor1",
                              .role = "tor",
                              .short_hash_keys = 3,
                              .flowlets = 12,
                              .override_hits = 70,
                              .override_fallbacks = 5};
  tor.ports = {small_port("Ethernet0", 101, 1), small_port("Ethernet4", 0, 60), small_port("Ethernet8", 0, 20)};
  auto& from_host = tor.ports[0].counters;
  from_host.made_packets = 1;
  from_host.tx_broadcast_packets = 1;
  from_host.rx_multicast_packets = 1;
  tor.ports[0].pauses[3].rx_frames = 1;
  from_host.drops[static_cast<size_t>(DropReason::kQueueFull)] = 15;
  from_host.drops[static_cast<size_t>(DropReason::kNoRoute)] = 1;
  from_host.drops[static_cast<size_t>(DropReason::kPfcConsumed)] = 1;
  auto& queue = tor.ports[1].counters.queues[3];
  queue.dropped_packets = 15;
  queue.dropped_bytes = 15'000;
  queue.current_packets = 4;
  queue.current_bytes = 4'000;
  queue.watermark_bytes = 9'000;
  from_host.ended_flow_packets = 16;
  tor.ports[1].waiting_packets = 4;
  return tor;
}

inline control::FlowSnapshot small_flow(uint32_t id, const std::string& workload, int64_t completed_us) {
  using dataplane::Duration;
  using dataplane::Instant;
  control::FlowSnapshot flow{.id = id, .workload = workload, .source = "h1", .destination = "h2"};
  flow.source_qp = 17 + id;
  flow.destination_qp = 117 + id;
  flow.planned_messages = 1;
  flow.sent_packets = 50;
  flow.sent_bytes = 45'000;
  flow.sent_messages = 1;
  flow.received_packets = 40 - id % 2;
  flow.received_bytes = 36'000;
  flow.latency = {.samples = 40, .min_ps = 1'000'000 + id, .mean_ps = 2'000'000, .max_ps = 3'000'000 + id};
  flow.first_sent = Instant::at(Duration::us(1));
  flow.last_arrived = Instant::at(Duration::us(9));
  if (completed_us > 0) {
    flow.received_messages = 1;
    flow.completion = Duration::us(completed_us);
    flow.under_way = 4;
  } else {
    flow.sequence_gaps = 2;
    flow.skipped_packets = 10;
  }
  return flow;
}

inline control::FabricSnapshot small_fabric() {
  using dataplane::Duration;
  control::FabricSnapshot fabric;
  fabric.instant = dataplane::Instant::at(Duration::us(10));
  fabric.switches = {
      small_tor1(),
      {.name = "tor2",
       .role = "tor",
       .ports = {small_port("Ethernet0", 0, 80), small_port("Ethernet4", 60, 0), small_port("Ethernet8", 20, 0)}},
      {.name = "core1", .role = "core", .ports = {small_port("Ethernet0", 60, 0), small_port("Ethernet4", 0, 60)}},
      {.name = "core2", .role = "core", .ports = {small_port("Ethernet0", 20, 0), small_port("Ethernet4", 0, 20)}},
  };
  const auto rate = dataplane::Rate::gbps(100);
  control::HostSnapshot h1{
      .name = "h1", .ports = {{.name = "eth0", .up = true, .rate = rate, .link = {101, 101'000}, .rx_packets = 1}}};
  h1.counters.pauses_sent = 1;
  h1.ports[0].pause[3].tx_frames = 1;
  h1.counters.received_packets = 1;
  h1.counters.received_bytes = 1000;
  h1.counters.answered = 1;
  control::HostSnapshot h2{
      .name = "h2", .ports = {{.name = "eth0", .up = true, .rate = rate, .link = {3, 180, 3}, .rx_packets = 80}}};
  h2.counters.pauses_sent = 3;
  h2.ports[0].pause[3].tx_frames = 3;
  h2.counters.ended_flow_packets = 1;
  h2.counters.received_packets = 80;
  h2.counters.received_bytes = 80'000;
  h2.counters.delivered_packets = 79;
  h2.counters.dropped[static_cast<size_t>(dataplane::DropReason::kBadIcrc)] = 1;
  h2.latency = {.samples = 79,
                .min_ps = 1'000'000,
                .mean_ps = 2'000'000,
                .max_ps = 3'000'001,
                .p50_ps = 1'900'000,
                .p99_ps = 2'900'000};
  fabric.hosts = {h1, h2};
  fabric.flows = {small_flow(0, "perm", 8), small_flow(1, "perm", 0)};
  fabric.links = {{.a = "h1:eth0", .b = "tor1:Ethernet0", .up = true},
                  {.a = "tor1:Ethernet4", .b = "core1:Ethernet0", .up = true},
                  {.a = "tor1:Ethernet8", .b = "core2:Ethernet0", .up = false},
                  {.a = "h2:eth0", .b = "tor2:Ethernet0", .up = true},
                  {.a = "tor2:Ethernet4", .b = "core1:Ethernet4", .up = true},
                  {.a = "tor2:Ethernet8", .b = "core2:Ethernet4", .up = true}};
  fabric.edges = {{.name = "vm1",
                   .kind = "vhost-user",
                   .counters = {.in_packets = 7, .in_bytes = 700, .out_packets = 5, .out_bytes = 500},
                   .port = "eth0",
                   .up = true,
                   .rate = rate,
                   .link = {7, 700}}};
  fabric.edges[0].counters.arrived_packets = 7;
  fabric.edges[0].counters.out_drops[static_cast<size_t>(dataplane::DropReason::kEdgeFull)] = 2;
  return fabric;
}

// As small_fabric(), but vm1 has a second port.
inline control::FabricSnapshot two_edged_fabric() {
  control::FabricSnapshot fabric = small_fabric();
  fabric.edges.push_back(fabric.edges[0]);
  fabric.edges[1].port = "eth1";
  fabric.edges[1].counters.in_packets = 9;
  for (control::EdgeSnapshot& edge : fabric.edges) edge.is_only = false;
  return fabric;
}

}  // namespace softspine::tests
