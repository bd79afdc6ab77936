// SPDX-License-Identifier: Apache-2.0
// Every packet ends in one place: what port_counters.hpp states, checked after each scenario and at any instant.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "dataplane/engine/engine.hpp"
#include "pipelines/switch.hpp"

namespace softspine::tests {

inline void expect_conserved(const pipelines::Switch& node) {
  uint64_t in = 0;
  uint64_t out = 0;
  for (uint16_t p = 0; p < node.ports(); ++p) {
    const dataplane::PortCounters& port = node.counters()[p];
    in += port.rx_packets + port.made_packets;
    out += port.tx_packets + port.dropped_packets() + port.queued_packets();
    dataplane::QueueCounters left;
    for (const dataplane::QueueCounters& queue : port.queues) {
      left.packets += queue.packets;
      left.bytes += queue.bytes;
      EXPECT_EQ(queue.current_packets == 0, queue.current_bytes == 0) << node.name() << " port " << p;
      EXPECT_GE(queue.watermark_bytes, queue.current_bytes);
    }
    const uint64_t own = port.pause_tx_frames + node.egress().flow_control(dataplane::PortNo{p}).credits().tx_frames();
    EXPECT_EQ(port.tx_packets, left.packets + own) << node.name() << " port " << p;
    EXPECT_EQ(port.tx_bytes, left.bytes + own * dataplane::mac_control::kFrameBytes) << node.name() << " port " << p;
    EXPECT_GE(port.rx_packets, port.rx_multicast_packets + port.rx_broadcast_packets);
    EXPECT_GE(port.tx_packets, port.tx_multicast_packets + port.tx_broadcast_packets);
    EXPECT_EQ(port.drops[static_cast<size_t>(dataplane::DropReason::kLostOnLink)], 0u) << "the engine's to count";
  }
  EXPECT_EQ(in, out) << node.name() << ": received + made = transmitted + dropped + queued";
  uint64_t queued = 0;
  for (const dataplane::PortCounters& port : node.counters()) queued += port.queued_packets();
  EXPECT_STREQ(node.egress().mmu().validate(queued == 0), "") << node.name();
}

// Once nothing is under way: all accounts are empty, and each wire carried what was counted.
inline void expect_at_rest(const pipelines::Switch& node) {
  expect_conserved(node);
  for (uint16_t p = 0; p < node.ports(); ++p) {
    const dataplane::PortCounters& port = node.counters()[p];
    const dataplane::LinkCounters& wire = node.transmitter(dataplane::PortNo{p}).counters();
    EXPECT_EQ(port.queued_packets(), 0u) << node.name() << " port " << p;
    EXPECT_EQ(port.queued_bytes(), 0u) << node.name() << " port " << p;
    EXPECT_EQ(port.tx_packets, wire.packets) << node.name() << " port " << p;
    EXPECT_EQ(port.tx_bytes, wire.bytes) << node.name() << " port " << p;
  }
}

}  // namespace softspine::tests
