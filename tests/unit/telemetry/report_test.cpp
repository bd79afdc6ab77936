// SPDX-License-Identifier: Apache-2.0
#include "control/report/report.hpp"

#include <gtest/gtest.h>

#include "control/report/flows_csv.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/totals.hpp"
#include "control/telemetry/workload_totals.hpp"
#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;
using tests::small_fabric;
using tests::small_flow;

Json small_report() {
  return report_json(small_fabric(), {.testbed = "small", .clock = "virtual", .seed = 7});
}

TEST(SwitchTotals, AreConservedAndSayWhenTheyAreNot) {
  const FabricSnapshot fabric = small_fabric();
  for (const SwitchSnapshot& node : fabric.switches) EXPECT_EQ(totals_of(node).imbalance(), 0) << node.name;
  const SwitchTotals tor1 = totals_of(fabric.switches[0]);
  EXPECT_EQ(tor1.rx_packets, 101u);
  EXPECT_EQ(tor1.made_packets, 1u);
  EXPECT_EQ(tor1.tx_packets, 81u);
  EXPECT_EQ(ended_packets(tor1.drops), 17u);
  EXPECT_EQ(dropped_packets(tor1.drops), 16u) << "a PFC frame has arrived where it should";
  EXPECT_EQ(tor1.held_packets, 4u);

  FabricSnapshot leaky = fabric;
  leaky.switches[0].ports[1].counters.tx_packets -= 1;
  EXPECT_EQ(totals_of(leaky.switches[0]).imbalance(), 1);
  EXPECT_EQ(report_json(leaky, {})["totals"]["balanced"], false);
  EXPECT_EQ(report_json(leaky, {})["switches"]["tor1"]["balanced"], false);
}

TEST(LinkDirections, ShareTheBytesThatASwitchSendsUpwards) {
  const auto links = link_directions(small_fabric());
  ASSERT_EQ(links.size(), 12u);
  EXPECT_EQ(links[2].from, "tor1:Ethernet4");
  EXPECT_DOUBLE_EQ(links[2].share, 0.75);
  EXPECT_DOUBLE_EQ(links[4].share, 0.25);
  EXPECT_FALSE(links[3].is_uplink) << "core1 → tor1 goes down";
  EXPECT_FALSE(links[1].is_uplink) << "tor1 → h1 does, too";
  EXPECT_TRUE(links[8].is_uplink);
  EXPECT_EQ(links[8].share, 0) << "tor2 has sent nothing upwards";
}

TEST(LinkDirections, CountTheWholeWireInTheirUtilisation) {
  // 60 × (1000 + 24) × 8 bits of the 100 Gb/s × 10 µs
  EXPECT_DOUBLE_EQ(link_directions(small_fabric())[2].utilisation(small_fabric().instant), 491'520.0 / 1'000'000);
  EXPECT_EQ(link_directions(small_fabric())[2].utilisation({}), 0) << "no time has passed";
}

TEST(WorkloadTotals, GiveExactQuantilesOfCompletionTimes) {
  WorkloadTotals totals;
  EXPECT_FALSE(quantile_of(totals.completion_ps, 0.5));
  for (int us = 100; us >= 1; --us) totals.add(small_flow(0, "w", us));
  EXPECT_EQ(quantile_of(totals.completion_ps, 0), Duration::us(1).count_ps());
  EXPECT_EQ(quantile_of(totals.completion_ps, 0.5), Duration::us(50).count_ps());
  EXPECT_EQ(quantile_of(totals.completion_ps, 0.99), Duration::us(99).count_ps());
  EXPECT_EQ(quantile_of(totals.completion_ps, 1), Duration::us(100).count_ps());
}

TEST(WorkloadTotals, WeighMeanLatenciesByTheirSamples) {
  WorkloadTotals totals;
  FlowSnapshot flow;
  flow.latency = {.samples = 1, .min_ps = 10, .mean_ps = 10, .max_ps = 10};
  totals.add(flow);
  flow.latency = {.samples = 3, .min_ps = 20, .mean_ps = 30, .max_ps = 50};
  totals.add(flow);
  totals.add(FlowSnapshot{});
  EXPECT_EQ(totals.latency.samples, 4u);
  EXPECT_EQ(totals.latency.min_ps, 10u);
  EXPECT_EQ(totals.latency.mean_ps, 25u);
  EXPECT_EQ(totals.latency.max_ps, 50u);
}

// 1,000 bytes that took 20 ps longer than the fastest, 500 that took none longer.
TEST(WorkloadTotals, AddUpWhatWaitedBeyondEachFlowsFastestPacket) {
  WorkloadTotals totals;
  FlowSnapshot flow;
  flow.received_bytes = 1000;
  flow.latency = {.samples = 3, .min_ps = 10, .mean_ps = 30, .max_ps = 50};
  totals.add(flow);
  flow.received_bytes = 500;
  flow.latency = {.samples = 3, .min_ps = 40, .mean_ps = 40, .max_ps = 40};
  totals.add(flow);
  totals.add(FlowSnapshot{});
  EXPECT_DOUBLE_EQ(totals.waited_byte_ps, 20'000);
}

// 32 in a row, or all that it sent; only where nothing tells the sender.
TEST(FlowSnapshot, IsCutOffWhenNoneOfItsLastPacketsArrived) {
  const auto is_cut_off = [](uint64_t sent, uint64_t received, uint64_t skipped = 0, bool open_loop = true) {
    FlowSnapshot flow;
    flow.open_loop = open_loop;
    flow.sent_packets = sent;
    flow.received_packets = received;
    flow.skipped_packets = skipped;
    return flow.is_cut_off();
  };
  EXPECT_TRUE(is_cut_off(5, 0));
  EXPECT_FALSE(is_cut_off(5, 4));
  EXPECT_FALSE(is_cut_off(100, 69));
  EXPECT_TRUE(is_cut_off(100, 68));
  EXPECT_FALSE(is_cut_off(100, 68, 1)) << "one of them was lost in between";
  EXPECT_FALSE(is_cut_off(100, 100));
  EXPECT_FALSE(is_cut_off(0, 0));
  EXPECT_FALSE(is_cut_off(5, 0, 0, false));
}

TEST(Report, AddsUpTheFlowsOfAWorkload) {
  const Json perm = small_report()["flows"]["perm"];
  EXPECT_EQ(perm["flows"], 2);
  EXPECT_EQ(perm["completed"], 1);
  EXPECT_EQ(perm["sent_packets"], 100);
  EXPECT_EQ(perm["received_bytes"], 72'000);
  EXPECT_EQ(perm["missing_packets"], 17) << "100 sent, 79 received, 4 under way";
  EXPECT_EQ(perm["under_way_packets"], 4);
  EXPECT_EQ(perm["sequence_gaps"], 2);
  EXPECT_EQ(perm["skipped_packets"], 10);
  EXPECT_EQ(perm["fct_p99_ps"], 8'000'000);
  EXPECT_EQ(perm["rate_bps"], 72'000'000'000) << "72,000 bytes in 8 µs";
  EXPECT_EQ(perm["flow_rate_min_bps"], 36'000'000'000);
  EXPECT_EQ(perm["latency_min_ps"], 1'000'000);
  EXPECT_EQ(perm["latency_max_ps"], 3'000'001);
  EXPECT_TRUE(perm["latency_p50_ps"].is_null()) << "nobody kept a histogram";
}

TEST(FlowsCsv, HasALineForEachFlowAndEmptyCellsWhereThereIsNothing) {
  FabricSnapshot fabric = small_fabric();
  fabric.flows[0].acked = Duration::us(9);
  fabric.flows[0].message_bytes = 36'000;
  fabric.flows[0].dscp = 3;
  fabric.flows[0].start = dataplane::Instant::at(Duration::ns(500));
  fabric.flows[0].ideal = Duration::us(4);
  fabric.flows[1].latency = {};
  fabric.flows[1].stalled = "no link";
  EXPECT_EQ(
      flows_csv(fabric),
      "workload,flow,source,destination,source_qp,destination_qp,planned_messages,sent_packets,sent_bytes,"
      "retransmitted_packets,retransmitted_bytes,received_packets,received_bytes,received_messages,missing_packets,"
      "under_way_packets,marked_packets,first_sent_ps,last_arrived_ps,fct_ps,fct_acked_ps,latency_min_ps,"
      "latency_mean_ps,latency_max_ps,stalled,message_bytes,dscp,start_ps,ideal_ps,slowdown\r\n"
      "perm,0,h1,h2,17,117,1,50,45000,0,0,40,36000,1,6,4,0,1000000,9000000,8000000,9000000,1000000,2000000,3000000,,"
      "36000,3,500000,4000000,2.125000\r\n"
      "perm,1,h1,h2,18,118,1,50,45000,0,0,39,36000,0,11,0,0,1000000,9000000,,,,,,no link,0,0,0,,\r\n");
}

TEST(Slowdown, OfListsIsByTheirSize) {
  FabricSnapshot fabric = small_fabric();
  fabric.flows.clear();
  const auto add = [&](uint64_t bytes, int64_t time_us) {
    FlowSnapshot flow{.workload = "web", .planned_messages = 1, .message_bytes = bytes, .listed = true};
    flow.ideal = Duration::us(10);
    flow.first_sent = {};
    if (time_us > 0) flow.completion = Duration::us(time_us);
    fabric.flows.push_back(flow);
  };
  add(10'000, 15);
  add(10'001, 20);
  add(100'000, 30);
  add(1'000'001, 45);
  add(5, 0);  // has not ended
  const Json found = report_json(fabric, {})["flows"]["web"]["slowdown"];
  EXPECT_EQ(found["all"]["flows"], 4);
  EXPECT_EQ(found["all"]["p50"], 2.0);
  EXPECT_EQ(found["all"]["max"], 4.5);
  EXPECT_EQ(found["10KB"]["p99"], 1.5);
  EXPECT_EQ(found["100KB"]["p50"], 2.0);
  EXPECT_EQ(found["100KB"]["p95"], 3.0);
  EXPECT_EQ(found["1MB"]["flows"], 0);
  EXPECT_TRUE(found["1MB"]["p50"].is_null());
  EXPECT_EQ(found["more"]["p999"], 4.5);
  fabric.flows[0].workload = "pairs";
  fabric.flows[0].listed = false;
  EXPECT_FALSE(report_json(fabric, {})["flows"]["pairs"].contains("slowdown"));
}

TEST(Report, HasNullWhereThereIsNothing) {
  FabricSnapshot fabric = small_fabric();
  fabric.flows = {FlowSnapshot{.workload = "idle"}};
  const Json idle = report_json(fabric, {})["flows"]["idle"];
  EXPECT_EQ(idle["completed"], 0);
  EXPECT_EQ(idle["rate_bps"], 0);
  for (const char* key : {"fct_min_ps", "fct_p50_ps", "fct_max_ps", "latency_min_ps", "latency_mean_ps"}) {
    EXPECT_TRUE(idle[key].is_null()) << key;
  }
}

TEST(Report, TakesLatencyQuantilesFromAWorkloadsHistogram) {
  FabricSnapshot fabric = small_fabric();
  fabric.workload_latencies = {{.workload = "other", .packets = {}}, {.workload = "perm", .packets = {}}};
  for (int i = 1; i <= 10; ++i) fabric.workload_latencies[1].packets.add(i);
  const Json perm = report_json(fabric, {})["flows"]["perm"];
  EXPECT_EQ(perm["latency_p50_ps"], 5);
  EXPECT_EQ(perm["latency_max_ps"], 10);
}

TEST(Report, NamesEveryDropReasonOfEachSwitch) {
  const Json report = small_report();
  const Json& drops = report["switches"]["tor1"]["drops"];
  EXPECT_EQ(drops.size(), static_cast<size_t>(dataplane::kDropReasons));
  EXPECT_EQ(drops["queue_full"], 15);
  EXPECT_EQ(drops["no_route"], 1);
  EXPECT_EQ(drops["ttl_expired"], 0);
  EXPECT_EQ(report["switches"]["tor1"]["dropped_packets"], 16);
  EXPECT_EQ(report["switches"]["core2"]["drops"]["queue_full"], 0);
  EXPECT_EQ(report["switches"]["tor1"]["queue_watermark_bytes"], 9'000);
}

TEST(Report, CountsFlowletsAndKeysCutShort) {
  const Json switches = small_report()["switches"];
  EXPECT_EQ(switches["tor1"]["short_hash_keys"], 3);
  EXPECT_EQ(switches["tor1"]["flowlets"], 12);
  EXPECT_EQ(switches["tor2"]["short_hash_keys"], 0);
}

TEST(Report, ShowsLinksByTheirSendingEnd) {
  const Json links = small_report()["links"];
  EXPECT_EQ(links["tor1:Ethernet4"]["share"], 0.75);
  EXPECT_EQ(links["tor1:Ethernet4"]["utilisation"], 0.49152);
  EXPECT_EQ(links["tor1:Ethernet4"]["tx_packets"], 60);
  EXPECT_EQ(links["h2:eth0"]["lost_packets"], 3) << "by the end that sent them";
  EXPECT_EQ(links["tor2:Ethernet0"]["lost_packets"], 0);
  EXPECT_EQ(links["core2:Ethernet0"]["up"], false);
  EXPECT_EQ(links["core2:Ethernet0"]["to"], "tor1:Ethernet8");
  EXPECT_FALSE(links["core2:Ethernet0"].contains("share"));
}

TEST(Report, ShowsHostsAndEdges) {
  const Json report = small_report();
  const Json& h2 = report["hosts"]["h2"];
  EXPECT_EQ(h2["received_packets"], 80);
  EXPECT_EQ(h2["rate_bps"], 72'000'000'000);
  EXPECT_EQ(h2["sent_rate_bps"], 0);
  EXPECT_EQ(h2["latency_p99_ps"], 2'900'000);
  EXPECT_EQ(h2["drops"]["bad_icrc"], 1);
  EXPECT_EQ(report["hosts"]["h1"]["sent_bytes"], 101'000);
  EXPECT_EQ(report["hosts"]["h1"]["sent_rate_bps"], 72'000'000'000);
  EXPECT_EQ(report["edges"]["vm1"]["kind"], "vhost-user");
  EXPECT_EQ(report["edges"]["vm1"]["out_drops"]["edge_full"], 2);
}

TEST(Report, TellsTheEdgesOfOneHostApart) {
  const Json report = report_json(tests::two_edged_fabric(), {.testbed = "small", .clock = "virtual", .seed = 7});
  const Json read = Json::parse(report.dump());
  EXPECT_EQ(read["edges"].size(), 2u);
  EXPECT_EQ(read["edges"]["vm1:eth0"]["in_packets"], 7);
  EXPECT_EQ(read["edges"]["vm1:eth1"]["in_packets"], 9);
}

TEST(Report, AddsUpTheFabric) {
  const Json totals = small_report()["totals"];
  EXPECT_EQ(totals["flows"], 2);
  EXPECT_EQ(totals["switched_packets"], 81 + 80 + 60 + 20);
  EXPECT_EQ(totals["dropped_packets"], 19) << "16 at tor1, one at h2, two at the edge of vm1";
  EXPECT_EQ(totals["missing_packets"], 17);
  EXPECT_EQ(totals["lost_on_links"], 3);
  EXPECT_EQ(totals["held_packets"], 4);
  EXPECT_EQ(totals["balanced"], true);
}

std::vector<std::string> names_of(const Json& rows) {
  std::vector<std::string> out;
  for (const auto& [name, row] : rows.items()) out.push_back(name);
  return out;
}

// h3 has done nothing, and nothing has crossed its cable; tor1's cable to a third core has carried nothing either, but
// tor1 has sent by its others: of tor2, which has not, the uplinks are idle.
FabricSnapshot with_idle_parts() {
  FabricSnapshot fabric = small_fabric();
  HostSnapshot h3{.name = "h3", .ports = {{.name = "eth0", .up = true, .rate = dataplane::Rate::gbps(100)}}};
  fabric.hosts.push_back(h3);
  fabric.switches[0].ports.push_back(tests::small_port("Ethernet12", 0, 0));
  fabric.switches[0].ports.push_back(tests::small_port("Ethernet16", 0, 0));
  fabric.switches[2].ports.push_back(tests::small_port("Ethernet8", 0, 0));
  fabric.links.push_back({.a = "h3:eth0", .b = "tor1:Ethernet12", .up = true});
  fabric.links.push_back({.a = "tor1:Ethernet16", .b = "core1:Ethernet8", .up = true});
  return fabric;
}

TEST(Report, LeavesOutTheRowsOfWhatDidNothingIfAskedTo) {
  const FabricSnapshot fabric = with_idle_parts();
  const Json whole = report_json(fabric, {});
  const Json report = report_json(fabric, {}, IdleRows::kLeftOut);
  EXPECT_EQ(names_of(report["hosts"]), (std::vector<std::string>{"h1", "h2"}));
  const size_t hosts_left_out = whole["hosts"].size() - report["hosts"].size();
  const size_t links_left_out = whole["links"].size() - report["links"].size();
  EXPECT_EQ(hosts_left_out, 1u);
  for (const Json& each : {whole, report}) {
    EXPECT_EQ(each["idle"]["hosts"], hosts_left_out);
    EXPECT_EQ(each["idle"]["links"], links_left_out);
  }
  EXPECT_FALSE(report["links"].contains("h3:eth0"));
  EXPECT_FALSE(report["links"].contains("core1:Ethernet8"));
  EXPECT_EQ(report["links"]["tor1:Ethernet16"]["share"], 0) << "a share that tor1's other uplinks have";
  EXPECT_FALSE(report["links"].contains("tor2:Ethernet4")) << "tor2 has sent nothing upwards";
  for (const char* section : {"hosts", "links"}) {
    for (const auto& [name, row] : report[section].items()) EXPECT_EQ(row, whole[section][name]) << name;
  }
}

TEST(Report, LosesTheSameRowsAfterwards) {
  FabricSnapshot fabric = with_idle_parts();
  Json report = report_json(fabric, {});
  leave_out_idle(report, fabric);
  EXPECT_EQ(report.dump(1), report_json(fabric, {}, IdleRows::kLeftOut).dump(1));
}

// Whatever a host or a link counts keeps its row; so does a link that is down.
TEST(Report, KeepsTheRowsOfWhatCountsAnything) {
  FabricSnapshot fabric = with_idle_parts();
  fabric.hosts[2].counters.dropped[static_cast<size_t>(dataplane::DropReason::kBadIcrc)] = 1;
  fabric.links[fabric.links.size() - 2].up = false;
  Json report = report_json(fabric, {}, IdleRows::kLeftOut);
  EXPECT_TRUE(report["hosts"].contains("h3"));
  EXPECT_TRUE(report["links"].contains("h3:eth0"));
  EXPECT_TRUE(report["links"].contains("tor1:Ethernet12"));
  fabric = with_idle_parts();
  fabric.hosts[2].ports[0].pause[3].rx_frames = 1;
  EXPECT_TRUE(report_json(fabric, {}, IdleRows::kLeftOut)["hosts"].contains("h3"));
}

TEST(Report, DiffersOnlyUnderEngineWhenTheMachineDoes) {
  FabricSnapshot slow = small_fabric();
  slow.engine = {.workers = 4, .windows = 1000, .node_runs = 5, .lateness_ps = {}, .wall_seconds = 9.5};
  slow.engine.lateness_ps.add(77);
  const RunFacts facts{.testbed = "small", .clock = "virtual", .seed = 7};
  Json one = report_json(small_fabric(), facts);
  Json other = report_json(slow, facts);
  EXPECT_NE(one.dump(), other.dump());
  EXPECT_EQ(other["engine"]["lateness_max_ps"], 77);
  EXPECT_EQ(other.back(), other["engine"]) << "the last key";
  one.erase("engine");
  other.erase("engine");
  EXPECT_EQ(one.dump(2), other.dump(2));
  EXPECT_EQ(one["seed"], 7);
  EXPECT_EQ(one["duration_ps"], 10'000'000);
}

}  // namespace
}  // namespace softspine::control
