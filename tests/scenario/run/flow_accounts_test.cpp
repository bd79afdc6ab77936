// SPDX-License-Identifier: Apache-2.0
// What has become of each packet of a flow: received, missing, under way, or nobody's loss.
#include <fmt/format.h>

#include "tests/scenario/run/paced_flow.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr int64_t kPace = 1'000'000;  // ps: a packet each microsecond

TEST(FlowAccounts, CallNoFlowCutOffThatADeepQueueStillDelivers) {
  const Outcome out = run_text(R"(
name: under_way
run: {duration: 2ms}
topology:
  nodes: {dut: {kind: switch, role: tor}, a: {kind: host}, b: {kind: host}, c: {kind: host}}
  links:
    - {endpoints: [dut, a], rate: 100Gbps, length: 3m}
    - {endpoints: [dut, b], rate: 100Gbps, length: 3m}
    - {endpoints: [dut, c], rate: 10Gbps, length: 3m}
profiles: {default: {queue_limit: 1MiB}}
workload:
  - {name: one, pattern: pairs, from: a, to: c, message: 1MiB, messages: 1000, rate: 20Gbps}
)");
  const control::FlowSnapshot& flow = out.snapshot.flows[0];
  EXPECT_GT(flow.missing(), 100U) << "half of what is sent finds no room";
  EXPECT_GT(flow.under_way, 200U);
  EXPECT_LE(flow.before_under_way.value_or(99), 1U) << "the next to arrive is about the next that was sent";
  EXPECT_EQ(out.report["totals"]["cut_off_flows"], 0);
}

// Nothing that is sent from 100 us on gets through, and some of it is still on its way to where it dies.
TEST(FlowAccounts, CallAFlowCutOffWhoseLatestPacketsAreOnTheirWayToTheirEnd) {
  for (const int lost : {31, 32, 100}) {
    const Outcome out = run_text(fmt::format(R"(
name: dying
run: {{duration: {}500ns}}
fabric: {{kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {{rate: 100Gbps, length: 600m}}, fabric_link: {{rate: 100Gbps, length: 3m}}}}
workload:
  - {{name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps}}
faults: [{{at: 100us, link: "h2:eth0", set: lossy, drop: 100%, direction: in}}]
)",
                                             100 + lost + 3));
    const control::FlowSnapshot& flow = out.snapshot.flows[0];
    EXPECT_EQ(flow.under_way, 3U) << "600 m are 3.03 us";
    EXPECT_EQ(flow.before_under_way, flow.missing());
    EXPECT_EQ(out.report["totals"]["cut_off_flows"], flow.missing() >= 32 ? 1 : 0) << flow.missing();
  }
}

// h2 says nothing, so its MAC ages after 20 us: from then on what is for it goes to all four hosts of its ToR, and to
// the spine.
std::string flooded(const std::string& duration, const std::string& more = "") {
  return fmt::format(R"(
name: flooded
run: {{duration: {}}}
fabric: {{kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {{rate: 25Gbps, length: 100m}}, fabric_link: {{rate: 100Gbps}}}}
profiles: {{default: {{base: lossless, neighbours: {{arp_timeout: 1s, fdb_aging_time: 20us, fdb_unicast_miss: flood_all}}}}}}
workload:
  - {{name: w, pattern: pairs, from: [h5, h1], to: [h2, h3], message: 64KiB, messages: 24, mtu: 1024, rate: 12Gbps}}
{})",
                     duration, more);
}

TEST(FlowAccounts, CountNoFloodedCopyAsAPacketOfItsFlow) {
  uint64_t copies = 0;
  for (const char* duration : {"30us", "77us", "133us", "410us", "999us"}) {
    const Outcome out = run_text(flooded(duration));
    for (const control::FlowSnapshot& flow : out.snapshot.flows) {
      EXPECT_EQ(flow.sent_packets, flow.received_packets + flow.under_way) << duration << ": nothing is lost";
      EXPECT_EQ(flow.missing(), 0U);
      copies += flow.copies;
    }
    EXPECT_EQ(out.report["totals"]["drops"]["not_for_us"], 0);
  }
  EXPECT_GT(copies, 10U);
}

TEST(FlowAccounts, MissAFloodedPacketOnceWhereItsOwnCopyIsLost) {
  const Outcome out = run_text(flooded("3ms",
                                       "faults: [{at: 100us, link: \"h2:eth0\", set: lossy, drop: 100%, until: 200us}, "
                                       "{at: 300us, link: \"h4:eth0\", set: lossy, drop: 100%, until: 500us}]\n"));
  const Json& own = out.report["faults"][0]["loss_window"];
  const Json& of_another = out.report["faults"][2]["loss_window"];
  const control::FlowSnapshot& flow = out.snapshot.flows[0];
  EXPECT_GT(flow.missing(), 90U) << "100 us at 12 Gb/s: 134 packets";
  ASSERT_EQ(own["flows"].size(), 1U);
  EXPECT_EQ(own["flows"][0]["lost_packets"], flow.missing());
  EXPECT_GT(of_another["lost_packets"].get<uint64_t>(), 90U) << "copies for h4";
  EXPECT_EQ(of_another["flows"], Json::array()) << "which nobody misses";
}

// When its link goes down, h2's ToR forgets the port of its MAC, and no other port could take what is for it.
TEST(FlowAccounts, LoseWhatNoPortIsUpToBeFloodedBy) {
  const Outcome out = run_text(R"(
name: nobody
run: {duration: 2ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps}}
profiles: {default: {neighbours: {arp_timeout: 1s, fdb_aging_time: 50us, fdb_unicast_miss: flood}}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps}
faults: [{at: 100us, link: "h2:eth0", set: down}]
)");
  const control::FlowSnapshot& flow = out.snapshot.flows[0];
  EXPECT_GT(flow.missing(), 800U) << "a packet each microsecond, from 100 us on";
  EXPECT_EQ(out.report["faults"][0]["loss_window"]["flows"][0]["lost_packets"], flow.missing());
  EXPECT_EQ(out.report["unexplained_losses"], Json::array());
  EXPECT_GT(out.report["totals"]["drops"]["neighbour_incomplete"].get<uint64_t>(), 800U);
}

// A ToR asks for an address that ARP has not heard of for 100 us: all hosts of the subnet hear it, one is meant.
TEST(FlowAccounts, LoseNoBroadcastThatAsksAnother) {
  const Outcome out = run_text(R"(
name: asks
run: {duration: 2ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles: {default: {neighbours: {arp_timeout: 100us, fdb_aging_time: 300s}}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h5], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps}
faults: [{at: 1us, link: "h8:eth0", set: down}]
)");
  const Json& drops = out.report["totals"]["drops"];
  EXPECT_EQ(drops["not_for_us"], 0);
  const auto asked = drops["for_others"].get<uint64_t>();
  EXPECT_GT(asked, 0U);
  EXPECT_EQ(asked % 2, 0U) << "h6 and h7 hear each that is for h5; h8 has no link";
  for (const Json& each : out.report["unexplained_losses"]) EXPECT_NE(each["reason"], "not_for_us") << each;
  for (const Json& each : out.report["losses"]) EXPECT_NE(each["reason"], "for_others") << each;
}

// A frame leaves h1 each microsecond, and is lost when its last bit has left: 1,122 bytes later.
TEST(FlowAccounts, HaveAVanishedFrameLostWithItsLastBit) {
  const Outcome out = run_text(
      paced("faults: [{at: 100500ns, link: \"h1:eth0\", set: lossy, drop: 100%, direction: out, until: 150500ns}]\n"));
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_EQ(window["lost_packets"], 50);
  EXPECT_EQ(window["reasons"][0]["first_ps"], 101 * kPace + 89'760);
  EXPECT_EQ(window["last_loss_ps"], 150 * kPace + 89'760);
}

}  // namespace
}  // namespace softspine::testbeds
