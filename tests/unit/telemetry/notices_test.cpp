// SPDX-License-Identifier: Apache-2.0
#include "control/report/notices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/report/metrics.hpp"
#include "control/report/report.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/prometheus.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FabricSnapshot troubled_fabric() {
  FabricSnapshot fabric = tests::small_fabric();
  fabric.switches[0].fdb_evictions = 12;
  fabric.switches[1].neighbour_refusals = 3;
  fabric.route_changes = 5;
  EdgeSnapshot edge{.name = "h9", .kind = "vhost-user", .port = "eth0"};
  edge.statistics = {{"rx_good_packets", 100}, {"rx_errors", 0}, {"tx_errors", 7}, {"vhost_offenders", 2}};
  fabric.edges.push_back(edge);
  return fabric;
}

TEST(Notices, AreNoneWhereNothingWasTooSmallOrWrong) {
  EXPECT_THAT(notices_of(tests::small_fabric()), IsEmpty());
}

TEST(Notices, NameWhatWasTooSmallAndWhatTheOutsideCountsAsWrong) {
  EXPECT_THAT(notices_of(troubled_fabric()), ElementsAre("tor1: 12 MAC addresses forgotten, since the FDB was full",
                                                         "tor2: 3 neighbours not learned, since the table was full",
                                                         "h9:eth0: 7 tx_errors", "h9:eth0: 2 vhost_offenders"));
}

TEST(Notices, NameTheQueuesThatPfcPausesAndWredDropsFrom) {
  using dataplane::DropReason;
  FabricSnapshot fabric = tests::small_fabric();
  auto& drops = fabric.switches[0].ports[0].counters.drops;
  fabric.switches[0].ports[1].pausable_queues = 1 << 3;
  EXPECT_THAT(notices_of(fabric), IsEmpty()) << "the queue was full";
  drops[static_cast<size_t>(DropReason::kWredDropped)] = 10;
  drops[static_cast<size_t>(DropReason::kQueueFull)] = 5;
  EXPECT_THAT(
      notices_of(fabric),
      ElementsAre("tor1:Ethernet4 queue 3 is paused by PFC, but WRED dropped at most 10 packets there: they were "
                  "not ECN-capable, or its profile marks nothing"));
  drops[static_cast<size_t>(DropReason::kWredDropped)] = 15;
  drops[static_cast<size_t>(DropReason::kQueueFull)] = 0;
  EXPECT_THAT(notices_of(fabric),
              ElementsAre("tor1:Ethernet4 queue 3 is paused by PFC, but WRED dropped 15 packets there: they were not "
                          "ECN-capable, or its profile marks nothing"));
  fabric.switches[0].ports[1].pausable_queues = 1 << 4;
  EXPECT_THAT(notices_of(fabric), IsEmpty()) << "a lossy queue";
}

TEST(Notices, StandInTheReportAndAsMetrics) {
  const Json report = report_json(troubled_fabric(), {});
  EXPECT_EQ(report["notices"].size(), 4U);
  EXPECT_EQ(report["switches"]["tor1"]["fdb_evictions"], 12);
  EXPECT_EQ(report["switches"]["tor2"]["neighbour_refusals"], 3);
  EXPECT_EQ(report["totals"]["route_changes"], 5);
  EXPECT_EQ(report["edges"]["h9"]["statistics"]["rx_good_packets"], 100);
  const std::string metrics = prometheus_text(troubled_fabric());
  EXPECT_THAT(metrics, HasSubstr("softspine_switch_fdb_evictions_total{switch=\"tor1\"} 12\n"));
  EXPECT_THAT(metrics, HasSubstr("softspine_switch_neighbour_refusals_total{switch=\"tor2\"} 3\n"));
  EXPECT_THAT(metrics, HasSubstr("softspine_route_changes_total 5\n"));
  EXPECT_THAT(metrics,
              HasSubstr("softspine_edge_outside_total{edge=\"h9\",port=\"eth0\",kind=\"vhost-user\",statistic=\""
                        "vhost_offenders\"} 2\n"));
}

TEST(Report, HasWhatHostsAndPortsCountBesideTheirPackets) {
  FabricSnapshot fabric = tests::small_fabric();
  fabric.hosts[0].counters.pauses_sent = 6;
  fabric.hosts[0].receive_buffer_max_bytes = 99'000;
  fabric.switches[0].ports[0].counters.pause_tx_frames = 2;
  fabric.switches[0].ports[1].counters.pause_tx_frames = 3;
  fabric.flows[0].reliable.acks_sent = 4;
  fabric.flows[0].workload = "acknowledged";
  const Json report = report_json(fabric, {});
  EXPECT_EQ(report["hosts"][fabric.hosts[0].name]["pauses_sent"], 6);
  EXPECT_EQ(report["hosts"][fabric.hosts[0].name]["receive_buffer_max_bytes"], 99'000);
  EXPECT_EQ(report["switches"]["tor1"]["pause_tx_frames"], 5);
  EXPECT_EQ(report["flows"]["acknowledged"]["acks_sent"], 4);
}

TEST(PrometheusPages, AreTheTextCutBetweenItsLines) {
  FabricSnapshot fabric = tests::small_fabric();
  for (int copies = 0; copies < 200; ++copies) {
    SwitchSnapshot more = fabric.switches[0];
    more.name += "-" + std::to_string(copies);
    fabric.switches.push_back(std::move(more));
  }
  std::string joined;
  size_t pages = 0;
  put_metrics_pages(fabric, [&](const std::string& page) {
    EXPECT_TRUE(page.ends_with('\n'));
    EXPECT_LT(page.size(), Exposition::kPageBytes + 1'000);
    joined += page;
    ++pages;
    return true;
  });
  EXPECT_GT(pages, 1U);
  EXPECT_TRUE(joined == prometheus_text(fabric));
  size_t taken = 0;
  put_metrics_pages(fabric, [&](const std::string& page) {
    taken += page.size();
    return false;
  });
  EXPECT_LT(taken, Exposition::kPageBytes + 1'000) << "who wants no more gets no more";
}

}  // namespace
}  // namespace softspine::control
