// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/counters_json.hpp"

#include <gtest/gtest.h>

#include "control/telemetry/json.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::DropReason;

TEST(CountersJson, NamesPortCountersAsSaiDoes) {
  const Json counters = counters_json(tests::small_fabric());
  const Json& port = counters["tor1"]["Ethernet0"];
  EXPECT_EQ(port["SAI_PORT_STAT_IF_IN_OCTETS"], 101'000);
  EXPECT_EQ(port["SAI_PORT_STAT_IF_IN_UCAST_PKTS"], 100) << "101 less one multicast";
  EXPECT_EQ(port["SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS"], 1);
  EXPECT_EQ(port["SAI_PORT_STAT_IF_IN_MULTICAST_PKTS"], 1);
  EXPECT_EQ(port["SAI_PORT_STAT_IF_OUT_UCAST_PKTS"], 0);
  EXPECT_EQ(port["SAI_PORT_STAT_IF_OUT_BROADCAST_PKTS"], 1);
  EXPECT_EQ(port["SAI_PORT_STAT_PFC_3_RX_PKTS"], 1);
  EXPECT_EQ(port["SAI_PORT_STAT_PFC_3_TX_PKTS"], 0);
  EXPECT_EQ(counters["tor1"]["Ethernet4"]["SAI_PORT_STAT_IF_OUT_OCTETS"], 60'000);
  EXPECT_EQ(counters["tor1"]["Ethernet4"]["SAI_PORT_STAT_IF_OUT_QLEN"], 4);
}

TEST(CountersJson, CountsADroppedFrameAtOneSideOnly) {
  const Json counters = counters_json(tests::small_fabric());
  EXPECT_EQ(counters["tor1"]["Ethernet0"]["SAI_PORT_STAT_IF_IN_DISCARDS"], 1)
      << "no route; the queue's 15 are not here";
  EXPECT_EQ(counters["tor1"]["Ethernet0"]["SAI_PORT_STAT_IF_OUT_DISCARDS"], 0);
  EXPECT_EQ(counters["tor1"]["Ethernet4"]["SAI_PORT_STAT_IF_OUT_DISCARDS"], 15);
  EXPECT_EQ(counters["tor1"]["Ethernet4"]["SAI_PORT_STAT_IF_IN_DISCARDS"], 0);
}

TEST(CountersJson, TellsErrorsFromDiscards) {
  dataplane::PortCounters port;
  port.drops.fill(1);
  const PortDiscards discards = discards_of(port);
  EXPECT_EQ(discards.in_errors, 5u) << "truncated, bad version, checksum, length, oversize";
  // All others but these five, what is consumed (pfc, credit, ours), what queues drop (full, WRED, watchdog), and what
  // is for others.
  EXPECT_EQ(discards.in_discards, static_cast<uint64_t>(dataplane::kDropReasons) - 5 - 3 - 3 - 1);
}

TEST(CountersJson, NamesQueuesByTheirPort) {
  const Json counters = counters_json(tests::small_fabric());
  EXPECT_EQ(counters["tor1"].size(), 3u * (1 + dataplane::kQueues));
  const Json& queue = counters["tor1"]["Ethernet4:3"];
  EXPECT_EQ(queue["SAI_QUEUE_STAT_PACKETS"], 60);
  EXPECT_EQ(queue["SAI_QUEUE_STAT_BYTES"], 60'000);
  EXPECT_EQ(queue["SAI_QUEUE_STAT_DROPPED_PACKETS"], 15);
  EXPECT_EQ(queue["SAI_QUEUE_STAT_DROPPED_BYTES"], 15'000);
  EXPECT_EQ(queue["SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES"], 4'000);
  EXPECT_EQ(queue["SAI_QUEUE_STAT_WATERMARK_BYTES"], 9'000);
  EXPECT_EQ(counters["tor1"]["Ethernet4:0"]["SAI_QUEUE_STAT_PACKETS"], 0);
}

}  // namespace
}  // namespace softspine::control
