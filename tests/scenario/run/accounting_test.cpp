// SPDX-License-Identifier: Apache-2.0
// Every packet has one place in the report: received, ended with a reason, lost on a link, or under way. (That all of
// it adds up is asserted after every run here: running_testbed.hpp. These tests hold single numbers to arithmetic.)
#include <algorithm>
#include <vector>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// h1 – tor1 – spine1 – tor2 – h2; one packet of 1024 bytes in 1098 + 24 bytes of wire, a microsecond each at 8.976
// Gb/s.
std::string line(const std::string& workload, const std::string& more = "", const std::string& length = "3m") {
  return "name: line\nrun: {duration: 10ms}\n"
         "fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, length: 3m}, "
         "fabric_link: {rate: 100Gbps, length: " +
         length + "}}\nworkload:\n" + workload + more;
}
const std::string kPaced =
    "  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 256, mtu: 1024, rate: 8.976Gbps}\n";

TEST(Accounting, CallsAllMissingWhereNothingArrives) {
  const Outcome out = run_text(line(kPaced, "faults: [{at: 0s, link: \"tor1:Ethernet4\", set: lossy, drop: 100%}]\n"));
  const control::Json& flow = out.report["flows"]["w"];
  EXPECT_EQ(number(flow, "sent_packets"), 256u);
  EXPECT_EQ(number(flow, "received_packets"), 0u);
  EXPECT_EQ(number(flow, "missing_packets"), 256u);
  EXPECT_EQ(number(flow, "skipped_packets"), 0u) << "no sequence number was ahead of another";
  EXPECT_EQ(number(out.report["totals"], "vanished_on_links"), 256u);
  EXPECT_EQ(out.report["losses"], control::Json::parse(R"([{"place": "tor1:Ethernet4 → spine1:Ethernet0",
                                                           "reason": "vanished", "packets": 256}])"));
}

TEST(Accounting, DoesNotMissWhatIsUnderWay) {
  // 2,000 km are 10.101 ms of light: at 10 ms everything that has left its ToR is on the link.
  const Outcome out = run_text(line(kPaced, "", "2000km"));
  const control::Json& flow = out.report["flows"]["w"];
  EXPECT_EQ(number(flow, "sent_packets"), 256u);
  EXPECT_EQ(number(flow, "received_packets"), 0u);
  EXPECT_EQ(number(flow, "missing_packets"), 0u);
  EXPECT_EQ(number(flow, "under_way_packets"), 256u);
  EXPECT_EQ(number(out.report["links"]["tor1:Ethernet4"], "under_way_packets"), 256u);
  EXPECT_EQ(number(out.report["links"]["tor1:Ethernet4"], "rx_packets"), 0u);
}

// 198,000 km/s: 19.8 km are 100 us, so 100 packets are on the link when it goes down, give or take the one at each end.
TEST(Accounting, CountsWhatALinkHeldWhenItWentDownByItsDirection) {
  const Outcome out = run_text(line(kPaced, "faults: [{at: 200us, link: \"tor1:Ethernet4\", set: down}]\n", "19.8km"));
  const control::Json& up = out.report["links"]["tor1:Ethernet4"];
  EXPECT_NEAR(static_cast<double>(number(up, "lost_packets")), 100, 2);
  EXPECT_EQ(number(up, "tx_packets"), number(up, "rx_packets") + number(up, "lost_packets"));
  EXPECT_EQ(number(out.report["links"]["spine1:Ethernet0"], "lost_packets"), 0u) << "nothing went the other way";
  const control::Json& flow = out.report["flows"]["w"];
  EXPECT_EQ(number(flow, "missing_packets"), 256 - number(flow, "received_packets"));
  EXPECT_EQ(number(out.report["totals"], "lost_on_links") + number(out.report["totals"], "dropped_packets"),
            number(flow, "missing_packets"));
}

TEST(Accounting, TellsRetransmittedBytesFromThoseSentOnce) {
  const std::string rc =
      "  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 64KiB, messages: 16, mtu: 1024, transport: rc}\n";
  const Outcome out = run_text(line(rc, "faults: [{at: 0s, link: \"tor1:Ethernet4\", set: lossy, drop: 1%}]\n"));
  const control::Json& flow = out.report["flows"]["w"];
  ASSERT_GT(number(flow, "retransmitted_packets"), 0u);
  EXPECT_EQ(number(flow, "completed_messages"), 16u);
  EXPECT_EQ(number(flow, "sent_bytes") - number(flow, "retransmitted_bytes"), uint64_t{16} << 16);
  EXPECT_EQ(number(flow, "received_bytes"), uint64_t{16} << 16) << "no byte twice";
  EXPECT_EQ(number(flow, "retransmitted_bytes"), number(flow, "retransmitted_packets") * 1024);
  // What the cable took of the data; it takes no part of what comes back.
  EXPECT_GT(number(flow, "missing_packets"), 0u);
  EXPECT_LE(number(flow, "missing_packets"), number(out.report["links"]["tor1:Ethernet4"], "vanished_packets"));
}

TEST(Accounting, GivesCompletionAtTheReceiverAndTheAcknowledgementAtTheSender) {
  const std::string rc =
      "  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 64KiB, messages: 4, mtu: 1024, transport: rc}\n";
  const Outcome out = run_text(line(rc, "", "1980m"));
  const control::Json& flow = out.report["flows"]["w"];
  // The ACK has the way back: 2 × 1,980 m of 10 us, 2 × 3 m of 15,152 ps, and 62 + 24 bytes on four links, 6,880 ps
  // each.
  const uint64_t way_back = number(flow, "fct_acked_max_ps") - number(flow, "fct_max_ps");
  EXPECT_EQ(way_back, 2 * 10'000'000 + 2 * 15'152 + 4 * 6'880);
  EXPECT_EQ(out.snapshot.flows[0].acked->count_ps(), number(flow, "fct_acked_p50_ps"));
  const control::Json open = run_text(line(kPaced)).report["flows"]["w"];
  EXPECT_TRUE(open["fct_acked_max_ps"].is_null()) << "nobody acknowledges an open loop";
  EXPECT_TRUE(open["fct_max_ps"].is_number());
}

TEST(Accounting, HasLatencyQuantilesOfEachWorkload) {
  const std::string two =
      "  - {name: back, pattern: pairs, from: [h2], to: [h1], message: 256B, messages: 50, mtu: 1024, rate: 1Gbps}\n"
      "  - {name: small, pattern: pairs, from: [h1], to: [h2], message: 256B, messages: 50, mtu: 1024, rate: 1Gbps}\n"
      "  - {name: large, pattern: pairs, from: [h1], to: [h2], message: 4096B, messages: 50, mtu: 4096, rate: 1Gbps}\n";
  const control::Json flows = run_text(line(two)).report["flows"];
  for (const char* name : {"back", "small", "large"}) {
    const control::Json& flow = flows[name];
    ASSERT_TRUE(flow["latency_p50_ps"].is_number()) << name;
    EXPECT_LE(number(flow, "latency_min_ps"), number(flow, "latency_p50_ps"));
    EXPECT_LE(number(flow, "latency_p99_ps"), number(flow, "latency_max_ps"));
  }
  // 3,840 bytes more over four links of 100 Gb/s, stored and forwarded: 4 × 307.2 ns; a histogram's error is 0.4 %.
  const auto small = static_cast<double>(number(flows["small"], "latency_p50_ps"));
  EXPECT_NEAR(static_cast<double>(number(flows["large"], "latency_p50_ps")), small + 4 * 307'200, 0.008 * 1.4e6);
  EXPECT_LT(number(flows["small"], "latency_p50_ps"), number(flows["large"], "latency_min_ps"));
}

// Two spines, eight senders into h1: its ToR pauses both spines. One flow leaves that ToR, by one of them, whichever
// its hash chooses: all that the other uplink carries are pauses, and its share of the traffic is nothing.
TEST(Accounting, DoesNotTakePausesForTraffic) {
  const Outcome out = run_text(R"(
name: pauses
run: {duration: 2ms}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m},
  fabric_link: {rate: 100Gbps, length: 40m}}
workload:
  - {name: w, pattern: incast, from: [h5, h6, h7, h8, h9, h10, h11, h12], to: h1, message: 1MiB, messages: 4, mtu: 4096,
     dscp: 3}
  - {name: up, pattern: pairs, from: [h2], to: [h5], message: 64KiB, messages: 40, mtu: 4096, dscp: 3, rate: 10Gbps}
)");
  std::vector<double> shares;
  for (const char* port : {"tor1:Ethernet16", "tor1:Ethernet20"}) {
    const control::Json& link = out.report["links"][port];
    EXPECT_GT(number(link, "tx_packets"), 100u) << port;
    shares.push_back(link["share"].get<double>());
  }
  std::ranges::sort(shares);
  EXPECT_EQ(shares, (std::vector<double>{0, 1}));
}

TEST(Accounting, ListsTheFaultsThatStruckAndTheirEnds) {
  const Outcome out = run_text(line(kPaced, R"(faults:
  - {at: 100us, until: 200us, node: h2, set: storm, priorities: [3]}
  - {at: 150us, link: "tor1:Ethernet4", set: down}
  - {at: 160us, link: "tor1:Ethernet4", set: up}
)"));
  std::vector<std::string> lines;
  for (const auto& fault : out.report["faults"]) {
    lines.push_back(std::to_string(fault["at_ps"].get<int64_t>() / 1'000'000) + " " + fault["what"].get<std::string>());
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"100 h2 storms: pauses of priority 3 without end",
                                             "150 link tor1:Ethernet4 – spine1:Ethernet0 down",
                                             "160 link tor1:Ethernet4 – spine1:Ethernet0 up", "200 h2: storm ends"}));
}

}  // namespace
}  // namespace softspine::testbeds
