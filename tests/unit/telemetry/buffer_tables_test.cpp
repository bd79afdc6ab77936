// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/buffer_tables.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "control/report/report.hpp"
#include "control/telemetry/counters_json.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/prometheus.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

// tor1 shares a buffer; of Ethernet0, group and priority 3 have something to tell.
FabricSnapshot with_buffers() {
  FabricSnapshot fabric = tests::small_fabric();
  SwitchSnapshot& tor = fabric.switches[0];
  for (PortSnapshot& port : tor.ports) port.buffers.emplace();
  PortSnapshot& port = tor.ports[0];
  port.buffers->groups[3] = {.lossless = true,
                             .reserved_bytes = 1'000,
                             .shared_bytes = 2'000,
                             .headroom_bytes = 4'000,
                             .shared_watermark_bytes = 20'000,
                             .headroom_watermark_bytes = 40'000,
                             .packets = 70,
                             .counters = {.dropped_packets = 7}};
  port.buffers->queues[3] = {.reserved_bytes = 10, .shared_bytes = 20, .shared_watermark_bytes = 30'000};
  port.pauses[3] = {.paused = true,
                    .stopping = false,
                    .rx_frames = 1,
                    .on_to_off = 5,
                    .time = dataplane::Duration::us(123),
                    .storms = 2,
                    .restored = 1,
                    .in_storms = {.tx_packets = 11, .tx_drops = 12, .rx_packets = 13, .rx_drops = 14},
                    .in_last_storm = {.tx_packets = 1, .tx_drops = 2, .rx_packets = 3, .rx_drops = 4}};
  tor.pools = {{.name = "ingress_lossless_pool",
                .ingress = true,
                .size_bytes = 100'000,
                .reserved_bytes = 1'000,
                .shared_bytes = 2'000,
                .watermark_bytes = 50'000,
                .headroom_size_bytes = 60'000,
                .headroom_bytes = 4'000,
                .headroom_watermark_bytes = 45'000},
               {.name = "egress_lossy_pool", .ingress = false, .size_bytes = 70'000, .watermark_bytes = 0}};
  return fabric;
}

// The line that begins with the two words, its columns apart by one space.
std::string row_of(const std::string& text, const std::string& node, const std::string& port) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    words >> first >> second;
    if (first != node || second != port) continue;
    std::string out;
    for (std::string word; words >> word;) out += (out.empty() ? "" : " ") + word;
    return out;
  }
  return "no such row";
}

TEST(BufferTables, ShowPrioritiesSideBySideAsSonicDoes) {
  const FabricSnapshot fabric = with_buffers();
  EXPECT_EQ(row_of(priority_group_watermark_table(fabric), "tor1", "Ethernet0"), "0 0 0 20,000 0 0 0 0");
  EXPECT_EQ(row_of(group_headroom_table(fabric), "tor1", "Ethernet0"), "0 0 0 40,000 0 0 0 0");
  EXPECT_EQ(row_of(group_drops_table(fabric), "tor1", "Ethernet0"), "0 0 0 7 0 0 0 0");
  EXPECT_EQ(row_of(queue_watermark_table(fabric), "tor1", "Ethernet0"), "0 0 0 30,000 0 0 0 0");
  EXPECT_EQ(row_of(pfc_counters_table(fabric), "tor1", "Ethernet0"), "0 0 0 1 0 0 0 0") << "received: the first table";
  EXPECT_NE(pfc_counters_table(fabric).find("Port Rx    PFC0"), std::string::npos);
  EXPECT_NE(priority_group_watermark_table(fabric).find("PG7"), std::string::npos);
}

TEST(BufferTables, SwitchesThatShareNothingHaveNoGroups) {
  const FabricSnapshot fabric = with_buffers();
  EXPECT_EQ(row_of(priority_group_watermark_table(fabric), "core1", "Ethernet0"), "N/A N/A N/A N/A N/A N/A N/A N/A");
  EXPECT_EQ(row_of(queue_watermark_table(tests::small_fabric()), "tor1", "Ethernet4"), "0 0 0 9,000 0 0 0 0");
  EXPECT_EQ(row_of(pool_watermark_table(fabric), "tor2", "ingress_lossless_pool"), "no such row");
}

TEST(BufferTables, PoolsAndTheirHeadroomHaveARowEach) {
  const FabricSnapshot fabric = with_buffers();
  EXPECT_EQ(row_of(pool_watermark_table(fabric), "tor1", "ingress_lossless_pool"), "50,000");
  EXPECT_EQ(row_of(pool_watermark_table(fabric), "tor1", "egress_lossy_pool"), "0");
  EXPECT_EQ(row_of(headroom_pool_watermark_table(fabric), "tor1", "ingress_lossless_pool"), "45,000");
  EXPECT_EQ(row_of(headroom_pool_watermark_table(fabric), "tor1", "egress_lossy_pool"), "no such row");
}

TEST(BufferTables, StormsAreToldByPortAndPriority) {
  EXPECT_EQ(row_of(watchdog_table(with_buffers()), "tor1", "Ethernet0:3"), "stormed 2/1 11/12 13/14 1/2 3/4");
  const Json storms = watchdog_json(with_buffers())["tor1"]["Ethernet0:3"];
  EXPECT_EQ(storms["in_storms"], Json::parse(R"({"tx_ok": 11, "tx_drop": 12, "rx_ok": 13, "rx_drop": 14})"));
  EXPECT_EQ(storms["in_last_storm"], Json::parse(R"({"tx_ok": 1, "tx_drop": 2, "rx_ok": 3, "rx_drop": 4})"));
}

// Priority 3 has had two storms, and is out of them once it has been restored from both.
TEST(BufferTables, AQueueIsStormedUntilItIsRestoredFromAllOfItsStorms) {
  FabricSnapshot fabric = with_buffers();
  PauseSnapshot& pause = fabric.switches[0].ports[0].pauses[3];
  for (const auto& [restored, status] : {std::pair{0U, "stormed"}, {1U, "stormed"}, {2U, "operational"}}) {
    pause.restored = restored;
    const std::string row = row_of(watchdog_table(fabric), "tor1", "Ethernet0:3");
    EXPECT_EQ(row, std::string(status) + " 2/" + std::to_string(restored) + " 11/12 13/14 1/2 3/4");
    const Json storm = watchdog_json(fabric)["tor1"]["Ethernet0:3"];
    EXPECT_EQ(storm["status"], status);
    EXPECT_EQ(storm["storm_detected"], 2);
    EXPECT_EQ(storm["storm_restored"], restored);
  }
  EXPECT_EQ(watchdog_json(fabric)["tor1"].size(), 1u) << "only where there was a storm";
  EXPECT_EQ(row_of(watchdog_table(fabric), "tor1", "Ethernet0:4"), "no such row");
}

// Of each table the row of the port that received 1 pause, sent 2, came off them 5 times, and stood still for 123 us.
TEST(BufferTables, PausesHaveATableForEachWayOneForEndsAndOneForTime) {
  FabricSnapshot fabric = with_buffers();
  fabric.switches[0].ports[0].pauses[3].tx_frames = 2;
  const std::string all = pfc_counters_table(fabric);
  const auto from = [&](const char* title) { return row_of(all.substr(all.find(title)), "tor1", "Ethernet0"); };
  EXPECT_EQ(from("Port Rx"), "0 0 0 1 0 0 0 0");
  EXPECT_EQ(from("Port Tx"), "0 0 0 2 0 0 0 0");
  EXPECT_EQ(from("Pauses that ended (on to off):"), "0 0 0 5 0 0 0 0");
  EXPECT_EQ(from("Time paused (us):"), "0 0 0 123 0 0 0 0");
}

TEST(BufferCounters, AreNamedAsSaiDoes) {
  const Json counters = counters_json(with_buffers())["tor1"];
  const Json& group = counters["Ethernet0|PG3"];
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES"], 7'000);
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_CURR_OCCUPANCY_BYTES"], 2'000);
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES"], 20'000);
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_CURR_OCCUPANCY_BYTES"], 4'000);
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"], 40'000);
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS"], 70);
  EXPECT_EQ(group["SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS"], 7);
  EXPECT_EQ(counters["Ethernet0:3"]["SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"], 30'000);
  EXPECT_EQ(counters["ingress_lossless_pool"]["SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES"], 3'000);
  EXPECT_EQ(counters["ingress_lossless_pool"]["SAI_BUFFER_POOL_STAT_WATERMARK_BYTES"], 50'000);
  EXPECT_EQ(counters["ingress_lossless_pool"]["SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES"], 45'000);
  EXPECT_EQ(counters["Ethernet0"]["SAI_PORT_STAT_PFC_3_ON2OFF_RX_PKTS"], 5);
  EXPECT_EQ(counters["Ethernet0"]["SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US"], 123);
}

TEST(BufferCounters, CanBeHadByTheBeginningOfTheirNames) {
  const Json pauses = counters_with(counters_json(with_buffers()), "SAI_PORT_STAT_PFC_3_RX");
  EXPECT_EQ(pauses["tor1"].size(), 3U) << "ports only";
  EXPECT_EQ(pauses["tor1"]["Ethernet0"].size(), 2U) << "frames and time";
  EXPECT_TRUE(pauses.contains("core1"));
  EXPECT_EQ(watchdog_json(with_buffers())["tor1"]["Ethernet0:3"]["storm_detected"], 2);
}

TEST(BufferCounters, StandInPrometheusAndInTheReport) {
  FabricSnapshot fabric = with_buffers();
  const std::string text = prometheus_text(fabric);
  for (const char* line :
       {"softspine_priority_group_headroom_watermark_bytes{switch=\"tor1\",port=\"Ethernet0\",group=\"3\"} 40000\n",
        "softspine_buffer_pool_watermark_bytes{switch=\"tor1\",pool=\"ingress_lossless_pool\",direction=\"ingress\"} "
        "50000\n",
        "softspine_port_pfc_on_to_off_total{switch=\"tor1\",port=\"Ethernet0\",priority=\"3\"} 5\n",
        "softspine_port_pfc_paused{switch=\"tor1\",port=\"Ethernet0\",priority=\"3\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  const Json tor = report_json(fabric, {})["switches"]["tor1"];
  EXPECT_EQ(tor["pfc_on_to_off"], 5);
  EXPECT_EQ(tor["paused_ps"], 123'000'000);
  EXPECT_EQ(tor["watchdog_storms"], 2);
  EXPECT_EQ(tor["headroom_watermark_bytes"], 40'000);
  EXPECT_EQ(tor["balanced"], true);
  fabric.switches[0].buffer_imbalances = "a pool's use is not the sum of its groups'";
  const Json report = report_json(fabric, {});
  EXPECT_EQ(report["switches"]["tor1"]["balanced"], false);
  EXPECT_EQ(report["switches"]["tor1"]["buffer_imbalances"], "a pool's use is not the sum of its groups'");
  EXPECT_EQ(report["totals"]["balanced"], false);
}

// tor1:Ethernet4 goes by credit.
FabricSnapshot with_credit() {
  FabricSnapshot fabric = tests::small_fabric();
  CreditSnapshot& credit = fabric.switches[0].ports[1].credit.emplace();
  credit.rx_frames = 3;
  credit.tx_frames = 4;
  credit.waited[3] = dataplane::Duration::us(250);
  credit.waited[4] = dataplane::Duration::us(50);
  return fabric;
}

TEST(CreditCounters, StandAtThePortsThatGoByCredit) {
  const Json tor = counters_json(with_credit())["tor1"];
  EXPECT_EQ(tor["Ethernet4"]["CREDIT_RX_FRAMES"], 3);
  EXPECT_EQ(tor["Ethernet4"]["CREDIT_TX_FRAMES"], 4);
  EXPECT_EQ(tor["Ethernet4"]["CREDIT_3_WAIT_US"], 250);
  EXPECT_EQ(tor["Ethernet4"]["CREDIT_4_WAIT_US"], 50);
  EXPECT_EQ(tor["Ethernet4"]["CREDIT_0_WAIT_US"], 0);
  EXPECT_FALSE(tor["Ethernet0"].contains("CREDIT_RX_FRAMES"));
}

TEST(CreditCounters, StandInPrometheusAndInTheReport) {
  const std::string text = prometheus_text(with_credit());
  for (const char* line :
       {"softspine_port_credit_frames_total{switch=\"tor1\",port=\"Ethernet4\",direction=\"rx\"} 3\n",
        "softspine_port_credit_frames_total{switch=\"tor1\",port=\"Ethernet4\",direction=\"tx\"} 4\n",
        "softspine_port_credit_wait_seconds_total{switch=\"tor1\",port=\"Ethernet4\",priority=\"3\"} 0.00025\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(text.find("port=\"Ethernet0\",direction"), std::string::npos);
  const size_t type = text.find("# TYPE softspine_port_credit_frames_total ");
  ASSERT_NE(type, std::string::npos);
  EXPECT_EQ(text.find("# TYPE softspine_port_credit_frames_total ", type + 1), std::string::npos)
      << "one family, both directions";
  const Json report = report_json(with_credit(), {});
  EXPECT_EQ(report["switches"]["tor1"]["credit_rx_frames"], 3);
  EXPECT_EQ(report["switches"]["tor1"]["credit_tx_frames"], 4);
  EXPECT_EQ(report["switches"]["tor1"]["credit_wait_ps"], 300'000'000);
}

}  // namespace
}  // namespace softspine::control
