// SPDX-License-Identifier: Apache-2.0
// From rows to a plan: units, keys of rows, cells, masks.
#include <gtest/gtest.h>

#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using dataplane::SharedLimit;
using dataplane::WatchdogAction;
using tests::plan_of;
using tests::Planned;
using tests::with_fabric;

// Pools and profiles of 1 KiB cells; rows follow.
std::string with_buffers(std::string_view rows) {
  return with_fabric(
      "profiles:\n"
      "  default:\n"
      "    cell: 1KiB\n"
      "    BUFFER_POOL:\n"
      "      in: {type: ingress, mode: dynamic, size: 1MiB, xoff: 100KiB}\n"
      "      out: {type: egress, mode: static, size: 2MiB}\n"
      "    BUFFER_PROFILE:\n"
      "      lossy: {pool: in, size: 1500B, static_th: 64KiB}\n"
      "      lossless: {pool: in, size: 2KiB, dynamic_th: -1, xoff: 20KiB, xon: 3KiB, xon_offset: 2049B}\n"
      "      queue: {pool: out, size: 4KiB, static_th: 1000KiB}\n"
      "      small: {pool: out, static_th: 1KiB}\n" +
      std::string(rows));
}
constexpr std::string_view kRows =
    "    BUFFER_PG: {0-7: {profile: lossy}, Ethernet4|3-4: {profile: lossless}}\n"
    "    BUFFER_QUEUE: {0-7: {profile: queue}, \"Ethernet0,Ethernet8|6\": {profile: small}}\n";

TEST(QosPlan, RowsOfAPortGoBeforeThoseOfAllPorts) {
  const Planned planned = plan_of(with_buffers(kRows));
  EXPECT_FALSE(planned.group(0, 3).lossless);
  EXPECT_TRUE(planned.group(1, 3).lossless);
  EXPECT_TRUE(planned.group(1, 4).lossless);
  EXPECT_FALSE(planned.group(1, 5).lossless);
  EXPECT_EQ(planned.queue(0, 6).limit, SharedLimit::fixed(1));
  EXPECT_EQ(planned.queue(1, 6).limit, SharedLimit::fixed(1000));
  EXPECT_EQ(planned.queue(2, 6).limit, SharedLimit::fixed(1));
}

TEST(QosPlan, PfcsMapsAreThoseOfThePort) {
  const Planned planned =
      plan_of(with_buffers(std::string(kRows) +
                           "    MAP_PFC_PRIORITY_TO_QUEUE: {A: {3: 3, 4: 4}, B: {2: 3}}\n"
                           "    PFC_PRIORITY_TO_PRIORITY_GROUP_MAP: {A: {3: 3, 4: 4}, B: {2: 4, 3: 4}}\n"
                           "    PORT_QOS_MAP: {global: {pfc_to_queue_map: A, pfc_to_pg_map: A, pfc_enable: [3]},\n"
                           "      Ethernet4: {pfc_to_queue_map: B, pfc_to_pg_map: B, pfc_enable: [2, 3]}}\n"));
  const auto& other = planned.plan->ports.at(0);
  EXPECT_EQ(other.queues_of_priority, (std::array<uint8_t, 8>{0, 0, 0, 1 << 3, 1 << 4}));
  EXPECT_EQ(other.priorities_of_pg, (std::array<uint8_t, 8>{0, 0, 0, 1 << 3, 1 << 4}));
  EXPECT_EQ(other.pfc_enabled, 1 << 3);
  const auto& own = planned.plan->ports.at(1);
  EXPECT_EQ(own.queues_of_priority, (std::array<uint8_t, 8>{0, 0, 1 << 3}));
  EXPECT_EQ(own.priorities_of_pg, (std::array<uint8_t, 8>{0, 0, 0, 0, 1 << 2 | 1 << 3}));
  EXPECT_EQ(own.pfc_enabled, 1 << 2 | 1 << 3);
}

TEST(QosPlan, SizesAreWholeCellsRoundedUp) {
  const Planned planned = plan_of(with_buffers(kRows));
  EXPECT_EQ(planned.group(0, 0).reserved_cells, 2u);  // 1,500 of 1,024
  EXPECT_EQ(planned.group(1, 3).reserved_cells, 2u);
  EXPECT_EQ(planned.group(1, 3).headroom_cells, 20u);
  EXPECT_EQ(planned.group(1, 3).xon_cells, 3u);
  EXPECT_EQ(planned.group(1, 3).xon_offset_cells, 3u);  // 2,049
}

TEST(QosPlan, APoolSharesItsSize) {
  const Planned planned = plan_of(with_buffers(kRows));
  EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).shared_cells, 1024u);
  EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).headroom_cells, 100u);
  EXPECT_EQ(planned.plan->buffer.egress_pools.at(0).shared_cells, 2048u);
  EXPECT_EQ(planned.plan->buffer.egress_pools.at(0).headroom_cells, 0u);
}

TEST(QosPlan, AnIngressPoolOfTotalSizeSharesWhatIsNotReserved) {
  const Planned planned = plan_of(with_buffers("    ingress_pool_size: total\n" + std::string(kRows)));
  // 24 groups of two cells.
  EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).shared_cells, 1024u - 48);
  EXPECT_EQ(planned.plan->buffer.egress_pools.at(0).shared_cells, 2048u);
}

TEST(QosPlan, HeadroomIsInsideTheSizeOnlyWithoutAHeadroomPool) {
  const auto plan_with = [](std::string_view pool_xoff, std::string_view size) {
    return plan_of(
        with_fabric("profiles:\n  default:\n    cell: 1KiB\n    BUFFER_POOL: {in: {type: ingress, size: 1MiB" +
                    std::string(pool_xoff) + "}}\n    BUFFER_PROFILE: {a: {pool: in, size: " + std::string(size) +
                    ", xoff: 20KiB, xon: 30KiB, dynamic_th: 0}}\n" + "    BUFFER_PG: {0-7: {profile: a}}\n"));
  };
  EXPECT_EQ(plan_with("", "24KiB").group(0, 3).reserved_cells, 4u);
  EXPECT_EQ(plan_with("", "24KiB").group(0, 3).headroom_cells, 20u);
  EXPECT_EQ(plan_with("", "19KiB").group(0, 3).reserved_cells, 19u) << "it does not fit inside";
  EXPECT_EQ(plan_with(", xoff: 100KiB", "24KiB").group(0, 3).reserved_cells, 24u);
  EXPECT_EQ(plan_with(", xoff: 100KiB", "24KiB").group(0, 3).headroom_cells, 20u);
}

TEST(QosPlan, AStaticLimitOfNothingIsNone) {
  const Planned planned =
      plan_of(with_fabric("profiles:\n  default:\n    BUFFER_POOL: {in: {type: ingress, size: 1MiB}}\n"
                          "    BUFFER_PROFILE: {a: {pool: in, static_th: 0B}}\n    BUFFER_PG: {0-7: {profile: a}}\n"));
  EXPECT_EQ(planned.group(0, 0).limit, SharedLimit::fixed(dataplane::BufferPlan::kUnlimitedCells));
}

// Two slices of three ports: Ethernet0 and Ethernet4 in the first, unless the table says otherwise.
TEST(QosPlan, PortsAreDealtToSlices) {
  const auto slices_with = [](std::string_view more) {
    const Planned planned = plan_of(with_buffers("    slices: 2\n" + std::string(more) + std::string(kRows)));
    std::vector<int> out;
    for (const auto& port : planned.plan->buffer.ports) out.push_back(port.slice);
    EXPECT_EQ(planned.plan->buffer.ingress_pools.size(), 2u);
    EXPECT_EQ(planned.plan->buffer.ingress_pools.at(1).shared_cells, 512u);
    EXPECT_EQ(planned.plan->buffer.ingress_pools.at(1).headroom_cells, 50u);
    return out;
  };
  EXPECT_EQ(slices_with(""), (std::vector{0, 0, 1, 0}));
  EXPECT_EQ(slices_with("    PORT_SLICE: {Ethernet0: {slice: 1}}\n"), (std::vector{1, 0, 1, 0}));
}

TEST(QosPlan, PortsHaveLimitsOverTheirGroupsAndQueues) {
  const Planned planned = plan_of(
      with_buffers("    BUFFER_PORT_INGRESS_PROFILE_LIST: {Ethernet4: {profile_list: lossless}}\n"
                   "    BUFFER_PORT_EGRESS_PROFILE_LIST: {global: {profile_list: \"[BUFFER_PROFILE|small]\"}}\n" +
                   std::string(kRows)));
  EXPECT_TRUE(planned.plan->buffer.ports.at(0).ingress_limits.empty());
  ASSERT_EQ(planned.plan->buffer.ports.at(1).ingress_limits.size(), 1u);
  EXPECT_EQ(planned.plan->buffer.ports.at(1).ingress_limits[0].limit, SharedLimit::dynamic(-1));
  ASSERT_EQ(planned.plan->buffer.ports.at(0).egress_limits.size(), 1u);
  EXPECT_EQ(planned.plan->buffer.ports.at(0).egress_limits[0].limit, SharedLimit::fixed(1));
}

// A port's headroom is for how late its neighbour obeys; what it obeys itself is its own.
TEST(QosPlan, ResponseTimesAreThePortsTheLinksOr8023s) {
  const auto with = [](std::string_view profile, std::string_view link) {
    return plan_of("name: t\nprofiles: {default: {base: lossless" + std::string(profile) +
                   "}}\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2,\n"
                   "  host_link: {rate: 100Gbps" +
                   std::string(link) + "}, fabric_link: {rate: 400Gbps}}\n");
  };
  using dataplane::Duration;
  const auto most = Duration::ps(394 * 5'120);
  EXPECT_EQ(with("", "").plan->ports.at(0).link.pfc_response, most);
  EXPECT_EQ(with("", ", pfc_response_time: 0ns").plan->ports.at(0).link.pfc_response, Duration{});
  const std::string own = ", PORT_QOS_MAP: {Ethernet0: {pfc_response_time: 700ns}}";
  EXPECT_EQ(with(own, ", pfc_response_time: 0ns").plan->ports.at(0).link.pfc_response, Duration::ns(700));
  EXPECT_EQ(with(own, "").plan->ports.at(1).link.pfc_response, most);
  // 1.5 us less at 100 Gbps are 18,750 bytes at least.
  const auto bytes = [&](const Planned& planned) { return uint64_t{planned.group(0, 3).headroom_cells} * 256; };
  EXPECT_GT(bytes(with("", "")), bytes(with("", ", pfc_response_time: 517ns")) + 18'750);
  EXPECT_EQ(bytes(with(own, "")), bytes(with("", ""))) << "the host obeys as late as before";
}

TEST(QosPlan, WhatTheSwitchMakesHasAnAccountBehindThePorts) {
  const Planned planned = plan_of(with_buffers(kRows));
  ASSERT_EQ(planned.plan->buffer.ports.size(), 4u);
  EXPECT_EQ(planned.group(3, 0).limit, SharedLimit::fixed(dataplane::BufferPlan::kUnlimitedCells));
  EXPECT_FALSE(planned.group(3, 0).lossless);
}

TEST(QosPlan, ADirectionWithoutPoolsHasNoLimit) {
  const Planned planned = plan_of(with_fabric(
      "profiles:\n  default:\n    BUFFER_POOL: {out: {type: egress, size: 1MiB}}\n"
      "    BUFFER_PROFILE: {queue: {pool: out, dynamic_th: 0}}\n    BUFFER_QUEUE: {0-7: {profile: queue}}\n"));
  EXPECT_EQ(planned.plan->buffer.cell.bytes(), 256u);
  EXPECT_EQ(planned.group(0, 0).limit, SharedLimit::fixed(dataplane::BufferPlan::kUnlimitedCells));
  EXPECT_EQ(planned.queue(0, 0).limit, SharedLimit::dynamic(0));
}

TEST(QosPlan, PausesOfAPriorityStopTheQueueAndComeFromTheGroupThatTheMapsName) {
  const Planned planned = plan_of(with_fabric(
      "profiles:\n  default:\n"
      "    MAP_PFC_PRIORITY_TO_QUEUE: {M: {3: 5, 4: 5, 0: 1}}\n"
      "    PFC_PRIORITY_TO_PRIORITY_GROUP_MAP: {M: {3: 2, 4: 2, 6: 7}}\n"
      "    PORT_QOS_MAP: {global: {pfc_enable: \"3,4\", pfcwd_sw_enable: \"4\"}, Ethernet4: {pfc_enable: \"6\"}}\n"));
  const dataplane::PortQosPlan& port = planned.plan->ports.at(0);
  EXPECT_EQ(port.queues_of_priority, (std::array<uint8_t, 8>{2, 0, 0, 32, 32, 0, 0, 0}));
  EXPECT_EQ(port.priorities_of_pg, (std::array<uint8_t, 8>{0, 0, 0b11000, 0, 0, 0, 0, 0b1000000}));
  EXPECT_EQ(port.pfc_enabled, 0b11000);
  EXPECT_EQ(port.watchdog.priorities, 0b10000);
  EXPECT_EQ(planned.plan->ports.at(1).pfc_enabled, 0b1000000);
  EXPECT_EQ(planned.plan->ports.at(1).watchdog.priorities, 0b10000);
}

TEST(QosPlan, EveryPortPausesUnderItsOwnAddress) {
  const Planned planned = plan_of(with_fabric("profiles: {default: {PORT_QOS_MAP: {global: {pfc_enable: [3]}}}}\n"));
  const auto& ports = planned.testbed.fabric.nodes.at(0).ports;
  for (size_t p = 0; p < ports.size(); ++p) {
    EXPECT_TRUE(std::ranges::equal(planned.plan->ports.at(p).mac, ports[p].mac.bytes));
  }
  EXPECT_NE(planned.plan->ports.at(0).mac, planned.plan->ports.at(1).mac);
}

TEST(QosPlan, SchedulersHaveAKindAWeightAndARate) {
  const Planned planned = plan_of(
      with_fabric("profiles:\n  default:\n"
                  "    SCHEDULER: {fair: {type: DWRR, weight: 30}, slow: {type: STRICT, pir: 10Gbps, pbs: 8KiB},\n"
                  "      port: {type: STRICT, pir: 50Gbps}}\n"
                  "    QUEUE: {0-6: {scheduler: fair}, 7: {scheduler: slow}}\n"
                  "    PORT_QOS_MAP: {Ethernet8: {scheduler: port}}\n"));
  const dataplane::PortQosPlan& port = planned.plan->ports.at(0);
  EXPECT_FALSE(port.queues[0].strict);
  EXPECT_EQ(port.queues[6].weight, 30u);
  EXPECT_TRUE(port.queues[7].strict);
  EXPECT_EQ(port.queues[7].shaper.rate, dataplane::Rate::gbps(10));
  EXPECT_EQ(port.queues[7].shaper.burst_bytes, 8u << 10);
  EXPECT_TRUE(port.shaper.rate.is_zero());
  EXPECT_EQ(planned.plan->ports.at(2).shaper.rate, dataplane::Rate::gbps(50));
}

TEST(QosPlan, MarksAndDropsHaveALineEach) {
  const Planned planned = plan_of(with_fabric(
      "profiles:\n  default:\n"
      "    WRED_PROFILE:\n"
      "      both: {ecn: ecn_all, wred_green_enable: true, green_min_threshold: 2MiB, green_max_threshold: 4MiB,\n"
      "        green_drop_probability: 50%, ecn_green_min_threshold: 100KiB, ecn_green_max_threshold: 400KiB,\n"
      "        ecn_green_mark_probability: 20%}\n"
      "      drop: {ecn: ecn_none, wred_green_enable: true, green_min_threshold: 1MiB, green_max_threshold: 1MiB,\n"
      "        green_drop_probability: 100%}\n"
      "    QUEUE: {3: {wred_profile: both}, 1: {wred_profile: drop}}\n"));
  const auto line = [&](size_t queue) { return planned.plan->wred.at(planned.plan->ports.at(0).queues[queue].wred); };
  EXPECT_EQ(line(3).mark.min_bytes, 100u << 10);
  EXPECT_EQ(line(3).mark.max_probability, dataplane::WredLine::kCertain / 5);
  EXPECT_EQ(line(3).drop.min_bytes, 2u << 20);
  EXPECT_EQ(line(3).drop.max_probability, dataplane::WredLine::kCertain / 2);
  EXPECT_TRUE(line(1).mark.off());
  EXPECT_EQ(line(1).drop.max_probability, dataplane::WredLine::kCertain);
  EXPECT_TRUE(line(0).mark.off());
  EXPECT_TRUE(line(0).drop.off());
}

TEST(QosPlan, TheWatchdogsTimesAreThePortsAndItsPollTheSwitchs) {
  const Planned planned =
      plan_of(with_fabric("profiles:\n  default:\n"
                          "    PFC_WD: {GLOBAL: {POLL_INTERVAL: 10ms}, \"*\": {action: drop, detection_time: 50ms},\n"
                          "      Ethernet4: {action: alert, restoration_time: 1s}}\n"));
  EXPECT_EQ(planned.plan->watchdog_poll, dataplane::Duration::ms(10));
  EXPECT_EQ(planned.plan->ports.at(0).watchdog.action, WatchdogAction::kDrop);
  EXPECT_EQ(planned.plan->ports.at(0).watchdog.detection, dataplane::Duration::ms(50));
  EXPECT_EQ(planned.plan->ports.at(0).watchdog.restoration, dataplane::Duration::ms(200));
  EXPECT_EQ(planned.plan->ports.at(1).watchdog.action, WatchdogAction::kAlert);
  EXPECT_EQ(planned.plan->ports.at(1).watchdog.detection, dataplane::Duration::ms(50));
  EXPECT_EQ(planned.plan->ports.at(1).watchdog.restoration, dataplane::Duration::s(1));
}

TEST(QosPlan, TheWatchdogDropsWhatWaitsAndCountsAlwaysUnlessTheTablesSayOtherwise) {
  const auto watchdog_of = [](const std::string& keys) {
    const std::string row = "    PFC_WD: {GLOBAL: {action: drop" + keys + "}}\n";
    return plan_of(with_fabric("profiles:\n  default:\n" + row)).plan->ports.at(0).watchdog;
  };
  EXPECT_FALSE(watchdog_of("").keeps_waiting);
  EXPECT_FALSE(watchdog_of("").counts_while_enabled);
  EXPECT_TRUE(watchdog_of(", waiting: keep").keeps_waiting);
  EXPECT_FALSE(watchdog_of(", waiting: drop").keeps_waiting);
  EXPECT_TRUE(watchdog_of(", rx_counter: while_enabled").counts_while_enabled);
  EXPECT_FALSE(watchdog_of(", rx_counter: always").counts_while_enabled);
}

TEST(QosPlan, ThereIsNoneWithoutTables) {
  EXPECT_EQ(
      plan_of(with_fabric("profiles: {default: {queue_limit: 2MiB, TC_TO_PRIORITY_GROUP_MAP: {A: {3: 3}}}}\n")).plan,
      nullptr);
}

}  // namespace
}  // namespace softspine::control
