// SPDX-License-Identifier: Apache-2.0
// Flows that stand still by a fault: whether they do, for how long, and by which one. What is reported is held against
// the run's capture.
#include <fmt/format.h>

#include <vector>

#include "tests/scenario/run/captured_gaps.hpp"
#include "tests/scenario/run/paced_flow.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr int64_t kMicrosecond = 1'000'000;  // ps

const Json& window(const Outcome& out, size_t fault) {
  return out.report["faults"].at(fault).at("loss_window");
}
std::vector<std::string> stalled(const Outcome& out, size_t fault) {
  std::vector<std::string> flows;
  for (const Json& each : window(out, fault)["flows"]) {
    if (each["stalled_ps"].get<int64_t>() > 0) flows.push_back(each["destination"].get<std::string>());
  }
  return flows;
}
using Names = std::vector<std::string>;

// Each stall that has ended is a gap between two packets of its flow.
void hold_against_capture(const Outcome& out) {
  const CapturedGaps captured(out);
  for (const Json& fault : out.report["faults"]) {
    if (!fault.contains("loss_window")) continue;
    for (const Json& each : fault["loss_window"]["flows"]) {
      const auto stalled_ps = each["stalled_ps"].get<int64_t>();
      if (stalled_ps == 0 || each["still_stalled"] == true) continue;
      EXPECT_TRUE(captured.has(out, each["flow"].get<size_t>(), stalled_ps)) << each;
    }
  }
}

// Four ToRs under one spine: h1 sends to h2, h3 to h4, a packet each microsecond.
std::string two_paced(const std::string& more, const std::string& transport = "") {
  return R"(
name: two-paced
run: {duration: 20ms}
fabric: {kind: leaf-spine, tors: 4, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: w, pattern: pairs, from: [h1, h3], to: [h2, h4], message: 1024B, messages: 1000, mtu: 1024, rate: 8.976Gbps)" +
         transport + "}\n" + more;
}

TEST(Stalls, AreNoneWhereALinkIsDownThatNobodyUses) {
  const Outcome out = run_text(R"(
name: unused
run: {duration: 25ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
workload:
  - {name: w, pattern: pairs, from: [h1, h2, h3], to: [h2, h3, h4], message: 64KiB, messages: 100000, rate: 10Gbps}
faults:
  - {at: 2ms, link: "tor2:Ethernet16", set: down}
  - {at: 20ms, link: "tor2:Ethernet16", set: up}
)",
                               {}, true);
  EXPECT_EQ(window(out, 0)["flows_stalled"], 0);
  EXPECT_EQ(window(out, 0)["recovered_ps"], 20'000 * kMicrosecond);
  const CapturedGaps captured(out);
  for (size_t flow = 0; flow < 3; ++flow) {
    // 4,178 bytes at 10 Gb/s: 3.3424 us, however the packets meet others on their way.
    EXPECT_NEAR(static_cast<double>(captured.longest(out, flow)), 3.3424 * kMicrosecond, 0.4 * kMicrosecond);
  }
}

// The first packet that comes again is the one after the last that was lost.
TEST(Stalls, LastExactlyFromOnePacketToTheNext) {
  for (const int down_us : {41, 55, 200, 703}) {
    const Outcome out = run_text(paced(fmt::format("faults:\n  - {{at: 100500ns, link: \"h2:eth0\", set: down}}\n"
                                                   "  - {{at: {}500ns, link: \"h2:eth0\", set: up}}\n",
                                                   100 + down_us)),
                                 {}, true);
    const auto lost = window(out, 0)["lost_packets"].get<int64_t>();
    EXPECT_EQ(lost, down_us);
    EXPECT_EQ(window(out, 0)["longest_stall_ps"], (lost + 1) * kMicrosecond);
    EXPECT_EQ(window(out, 0)["flows"][0]["still_stalled"], false);
    // The next packet of a flow that leaves at 0, 1, 2 … us arrives as much after a whole microsecond.
    const auto moving = window(out, 0)["moving_ps"].get<int64_t>();
    const int64_t way = out.snapshot.flows[0].latency.min_ps;
    EXPECT_EQ((moving - way) % kMicrosecond, 0);
    EXPECT_EQ(window(out, 0)["recovered_ps"], moving);
    hold_against_capture(out);
  }
}

TEST(Stalls, OfLessThanFourLooksAreNone) {
  const Outcome out = run_text(paced(
      "faults:\n  - {at: 100500ns, link: \"h2:eth0\", set: down}\n  - {at: 138500ns, link: \"h2:eth0\", set: up}\n"));
  EXPECT_EQ(window(out, 0)["lost_packets"], 38);
  EXPECT_EQ(window(out, 0)["flows_stalled"], 0) << "39 us";
}

TEST(Stalls, OfTwoFaultsAreEachItsOwn) {
  for (const int apart_us : {1, 7, 20, 39}) {
    // Of links that no host is at, and of the hosts' own.
    for (const auto& [first, second] :
         {std::pair{"tor1:Ethernet4", "tor3:Ethernet4"}, std::pair{"h2:eth0", "h4:eth0"}}) {
      const Outcome out = run_text(two_paced(fmt::format("faults:\n"
                                                         "  - {{at: 100500ns, link: \"{0}\", set: down}}\n"
                                                         "  - {{at: {2}500ns, link: \"{1}\", set: down}}\n"
                                                         "  - {{at: 400500ns, link: \"{0}\", set: up}}\n"
                                                         "  - {{at: 600500ns, link: \"{1}\", set: up}}\n",
                                                         first, second, 100 + apart_us)),
                                   {}, true);
      EXPECT_EQ(stalled(out, 0), Names{"h2"}) << first << ", " << apart_us << " us apart";
      EXPECT_EQ(stalled(out, 1), Names{"h4"}) << first << ", " << apart_us << " us apart";
      EXPECT_EQ(window(out, 0)["longest_stall_ps"], 301 * kMicrosecond);
      EXPECT_EQ(window(out, 1)["longest_stall_ps"], (501 - apart_us) * kMicrosecond);
      hold_against_capture(out);
    }
  }
}

TEST(Stalls, OfTwoStormsAreEachItsOwn) {
  const Outcome out = run_text(two_paced("profiles: {default: {base: lossless}}\n"
                                         "faults:\n"
                                         "  - {at: 100us, node: h2, set: storm, priorities: [3], until: 300us}\n"
                                         "  - {at: 110us, node: h4, set: storm, priorities: [3], until: 500us}\n",
                                         ", dscp: 3"),
                               {}, true);
  EXPECT_EQ(stalled(out, 0), Names{"h2"});
  EXPECT_EQ(stalled(out, 1), Names{"h4"});
  hold_against_capture(out);
}

// h1's flow stands by the first link for long before the second goes down, which nobody uses.
TEST(Stalls, AreNoLaterFaultsForWhichTheFlowStoodAlready) {
  const Outcome out =
      run_text(two_paced("faults:\n"
                         "  - {at: 100500ns, link: \"h2:eth0\", set: down}\n"
                         "  - {at: 300500ns, link: \"h4:eth0\", set: down}\n"
                         "  - {at: 310500ns, link: \"h4:eth0\", set: up}\n"
                         "  - {at: 900500ns, link: \"h2:eth0\", set: up}\n"));
  EXPECT_EQ(stalled(out, 0), Names{"h2"});
  EXPECT_EQ(stalled(out, 1), Names{});
  EXPECT_EQ(window(out, 0)["longest_stall_ps"], 801 * kMicrosecond);
  EXPECT_EQ(window(out, 1)["recovered_ps"], 310'500'000) << "what stands by the first does not keep the second open";
}

// A window of 16 packets is sent at once, and the next when its acknowledgements have come over 2 × 100 km: 1.01 ms.
TEST(Stalls, AreNoneWhereAWindowWaitsForAcknowledgements) {
  const Outcome out = run_text(R"(
name: far
run: {duration: 40ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps, length: 100km}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h3], message: 64KiB, messages: 1000, transport: rc, window: 16, ack_every: 16}
faults:
  - {at: 1us, link: "h4:eth0", set: down}
  - {at: 20ms, link: "h4:eth0", set: up}
)",
                               {}, true);
  EXPECT_EQ(window(out, 0)["flows_stalled"], 0);
  EXPECT_GT(CapturedGaps(out).longest(out, 0), 2'000 * kMicrosecond) << "it does wait";
}

TEST(Stalls, AreNoneWhereAFirstPacketIsOnALongWay) {
  const Outcome out = run_text(R"(
name: far
run: {duration: 40ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps, length: 100km}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h3], message: 1MiB, messages: 20, start: 5ms}
  - {name: slow, pattern: pairs, from: [h2], to: [h3], message: 4096B, messages: 100, rate: 100Mbps, start: 5ms}
faults:
  - {at: 4900us, link: "h4:eth0", set: down}
)");
  EXPECT_EQ(window(out, 0)["flows_stalled"], 0) << "2 x 505 us on the way; a packet each 334 us";
}

// The last packet to arrive is the one that left at 100 us; the last of 1,000 leaves at 999 us, and lasts 1,122 bytes.
TEST(Stalls, OfAnOpenLoopEndWithItsLastPacket) {
  const Outcome out =
      run_text(paced("faults: [{at: 100500ns, link: \"h2:eth0\", set: down}, "
                     "{at: 9ms, link: \"h2:eth0\", set: up}]\n"));
  const Json& flow = window(out, 0)["flows"][0];
  EXPECT_EQ(flow["still_stalled"], false) << "it has sent all that it has";
  const auto way = static_cast<int64_t>(out.snapshot.flows[0].latency.min_ps);
  const auto received = static_cast<int64_t>(out.snapshot.flows[0].received_packets);
  const int64_t from = (received - 1) * kMicrosecond + way;
  EXPECT_EQ(flow["stalled_ps"].get<int64_t>(), 999 * kMicrosecond + 89'760 - from);
  EXPECT_EQ(window(out, 0)["recovered_ps"], 9'000 * kMicrosecond);
}

// Each packet lost is sent again after 4.096 us x 2^5 = 131 us: about four looks, when the fault is 2 ms old.
TEST(Stalls, OfAboutFourLooksEnd) {
  const Outcome out = run_text(R"(
name: lossy
run: {duration: 60ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 8, host_link: {rate: 100Gbps}, fabric_link: {rate: 400Gbps}}
workload:
  - {name: w, pattern: pairs, from: [h1, h2, h3, h4, h5, h6, h7, h8], to: [h9, h10, h11, h12, h13, h14, h15, h16], message: 4096B, messages: 400, transport: rc, window: 1, ack_every: 1, ack_timeout: 5, retries: 7, rate: 5Gbps}
faults: [{at: 10us, link: "tor1:Ethernet32", set: lossy, drop: 10%, until: 30ms}]
)",
                               {}, true);
  EXPECT_GT(window(out, 0)["flows_stalled"].get<int64_t>(), 4);
  EXPECT_FALSE(window(out, 0)["moving_ps"].is_null());
  EXPECT_EQ(window(out, 0)["recovered_ps"], 30'000 * kMicrosecond);
  for (const Json& each : window(out, 0)["flows"]) EXPECT_EQ(each["still_stalled"], false) << each;
  hold_against_capture(out);
}

constexpr int64_t kApart = 8'976'000;  // ps

struct Silence {
  int behind;  // packets
  int apart;   // how many times as long as others the next one comes after the last
};

// h2's link takes 8.976 us for a packet of 1,122 bytes, and its ToR's port falls silent behind some of them. The next
// comes before the fault is over for good (five looks), so that each silence is judged when it has ended, too.
Outcome run_silent(const std::vector<Silence>& silences) {
  std::string text = R"(
name: slow
run: {duration: 20ms}
topology:
  nodes: {s: {kind: switch, role: tor}, h1: {kind: host}, h2: {kind: host}}
  links:
    - {endpoints: ["s:Ethernet0", "h1:eth0"], rate: 100Gbps, length: 3m}
    - {endpoints: ["s:Ethernet4", "h2:eth0"], rate: 1Gbps, length: 3m}
workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 40, mtu: 1024, transport: rc, window: 16, ack_timeout: 0}]
faults:
)";
  int64_t starts = 0;  // the next packet
  for (const Silence& silence : silences) {
    const int64_t at = starts + kApart * silence.behind - kApart / 2;
    starts += kApart * (silence.behind - 1 + silence.apart);
    text += fmt::format("  - {{at: {}ps, until: {}ps, link: \"s:Ethernet4\", set: tx_disabled}}\n", at, starts);
  }
  Outcome out = run_text(text, {}, true);
  EXPECT_EQ(out.snapshot.flows[0].received_packets, 40U) << "they wait, and none is lost";
  hold_against_capture(out);
  return out;
}

// What lasts less than eight times as long is as it may be.
TEST(Stalls, LastEightTimesAsLongAsPacketsWereApartOnAverage) {
  const Outcome shorter = run_silent({{.behind = 5, .apart = 7}});
  const Outcome longer = run_silent({{.behind = 5, .apart = 9}});
  EXPECT_EQ(window(shorter, 0)["flows_stalled"], 0);
  EXPECT_EQ(window(longer, 0)["flows_stalled"], 1);
  EXPECT_NEAR(window(longer, 0)["longest_stall_ps"].get<double>(), 9 * kApart, 0.2 * kMicrosecond);
}

// The second silence comes behind five gaps and a stall. Its fault is the third row: a fault's end is one, too.
TEST(Stalls, AreNoPartOfTheAverageThatLaterOnesAreMeasuredBy) {
  const Outcome shorter = run_silent({{.behind = 5, .apart = 9}, {.behind = 2, .apart = 7}});
  const Outcome longer = run_silent({{.behind = 5, .apart = 9}, {.behind = 2, .apart = 9}});
  EXPECT_EQ(window(shorter, 0)["flows_stalled"], 1);
  EXPECT_EQ(window(shorter, 2)["flows_stalled"], 0);
  EXPECT_EQ(window(longer, 2)["flows_stalled"], 1);
}

}  // namespace
}  // namespace softspine::testbeds
