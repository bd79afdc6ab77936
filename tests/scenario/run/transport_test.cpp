// SPDX-License-Identifier: Apache-2.0
// Closed-loop traffic and failing hosts, by a testbed's file: the keys reach the hosts, and the report what came of it.
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

std::string two_hosts(const std::string& workload, const std::string& more = "") {
  return R"(
name: transport
run: {duration: 10ms}
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}}
  links: [{endpoints: ["h1:eth0", "h2:eth0"], rate: 100Gbps, length: 100m}]
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], dscp: 3, )" +
         workload + "}\n" + more;
}

TEST(Transport, AReliableConnectionIsInTheReport) {
  const Outcome out = run_text(two_hosts("transport: rc, messages: 5, message: 1MiB"));
  const control::Json& flow = out.report["flows"]["w"];
  EXPECT_EQ(number(flow, "completed_messages"), 5u);
  EXPECT_EQ(number(flow, "received_messages"), 5u);
  EXPECT_EQ(number(flow, "retransmitted_packets"), 0u);
  const control::Json& sender = out.report["hosts"]["h1"];
  // Sixteen acknowledgements a message: its last packet is one of those that ask every sixteenth.
  EXPECT_EQ(number(sender, "responses"), 5u * 16);
  EXPECT_GT(number(sender, "completion_p50_ps"), 80'000'000u) << "1 MiB at 100 Gb/s";
  EXPECT_LE(number(sender, "completion_p50_ps"), number(sender, "completion_max_ps"));
}

TEST(Transport, ASlowReceiverPausesItsPeerWhileItLasts) {
  const Outcome out = run_text(two_hosts("transport: rc, messages: 20, message: 1MiB, congestion_control: dcqcn_paper",
                                         "faults:\n  - {at: 1us, until: 1ms, node: h2, set: slow_receiver, drain: "
                                         "5Gbps}\n"));
  EXPECT_EQ(number(out.report["flows"]["w"], "completed_messages"), 20u);
  EXPECT_EQ(number(out.report["flows"]["w"], "retransmitted_packets"), 0u);
  EXPECT_EQ(number(out.report["hosts"]["h2"]["drops"], "receive_buffer_full"), 0u);
  const control::Json& paused = out.report["hosts"]["h1"]["pause"]["eth0"]["3"];
  EXPECT_GT(number(paused, "on_to_off"), 0u);
  // It drains a twentieth of what could come, so it is paused for about nineteen of twenty.
  EXPECT_NEAR(static_cast<double>(number(paused, "paused_ps")), 0.95e9, 0.03e9);
  EXPECT_EQ(number(paused, "rx_packets"), number(out.report["hosts"]["h2"]["pause"]["eth0"]["3"], "tx_packets"));
}

TEST(Transport, AStormStopsItsPeerForItsTime) {
  const Outcome out = run_text(
      two_hosts("messages: 1, message: 64KiB, start: 2ms", "faults: [{at: 1ms, until: 5ms, node: h2, set: storm}]\n"));
  const control::FlowSnapshot& flow = out.snapshot.flows[0];
  EXPECT_EQ(flow.received_messages, 1u);
  EXPECT_GT(flow.first_sent, dataplane::Instant::at(dataplane::Duration::ms(5)));
  EXPECT_LT(flow.first_sent, dataplane::Instant::at(dataplane::Duration::us(5'340)));
  EXPECT_EQ(number(out.report["hosts"]["h1"]["pause"]["eth0"]["4"], "on_to_off"), 1u);
}

TEST(Transport, OpenLoopSaysNothingOfConnections) {
  const Outcome out = run_text(two_hosts("messages: 5, message: 1MiB"));
  for (const auto& [member, facts] : control::ReliableCounts::rows()) {
    EXPECT_EQ(number(out.report["flows"]["w"], std::string{facts.report}.c_str()), 0u) << facts.report;
  }
  EXPECT_EQ(number(out.report["hosts"]["h1"], "responses"), 0u);
  EXPECT_TRUE(out.report["hosts"]["h1"]["completion_max_ps"].is_null());
  EXPECT_TRUE(out.report["hosts"]["h1"]["pause"].empty());
}

}  // namespace
}  // namespace softspine::testbeds
