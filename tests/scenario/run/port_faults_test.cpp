// SPDX-License-Identifier: Apache-2.0
// Cables that lose frames, ports that do not react to pauses: by a file's schedule and by request.
#include <cmath>

#include "control/load/live_fault.hpp"
#include "testbeds/run/live_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

constexpr double kPackets = 20'000;

// One packet of 1024 bytes a microsecond, for 20 ms, over tor1:Ethernet4 → spine1.
std::string paced_under(const std::string& faults, const std::string& workload = "") {
  return R"(
name: cables
run: {duration: 30ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 20000, mtu: 1024, rate: 8.976Gbps)" +
         workload + "}\nfaults: [" + faults + "]\n";
}
const std::string kUplink = "link: \"tor1:Ethernet4\", set: lossy";

uint64_t of_uplink(const Outcome& out, const char* key) {
  return out.report["links"]["tor1:Ethernet4"][key].get<uint64_t>();
}
uint64_t received(const Outcome& out) {
  return out.snapshot.flows[0].received_packets;
}
double deviation(double share, double of) {
  return std::sqrt(of * share * (1 - share));
}

// Bounds: 4.5 standard deviations of a binomial count; a right share fails once in 150,000 seeds.
TEST(LossyLink, TakesItsShareAndEveryFrameIsAccountedFor) {
  const Outcome out = run_text(paced_under("{at: 0s, " + kUplink + ", drop: 10%, corrupt: 5%}"));
  EXPECT_NEAR(static_cast<double>(of_uplink(out, "vanished_packets")), kPackets * 0.1, 4.5 * deviation(0.1, kPackets));
  EXPECT_NEAR(static_cast<double>(of_uplink(out, "damaged_packets")), kPackets * 0.05, 4.5 * deviation(0.05, kPackets));
  const uint64_t gone = of_uplink(out, "vanished_packets") + of_uplink(out, "damaged_packets");
  EXPECT_EQ(received(out) + gone, 20'000u);
  EXPECT_EQ(out.snapshot.flows[0].missing(), gone);
  EXPECT_EQ(out.report["totals"]["vanished_on_links"], of_uplink(out, "vanished_packets"));
  EXPECT_EQ(out.report["totals"]["damaged_on_links"], of_uplink(out, "damaged_packets"));
}

TEST(LossyLink, IsSoOnlyInItsTimeAndItsDirection) {
  const Outcome window = run_text(paced_under("{at: 5ms, until: 10ms, " + kUplink + ", drop: 100%}"));
  EXPECT_NEAR(static_cast<double>(received(window)), kPackets - 5'000, 2);
  const Outcome back = run_text(paced_under("{at: 0s, " + kUplink + ", drop: 100%, direction: in}"));
  EXPECT_EQ(received(back), 20'000u) << "nothing comes back but answers to nobody";
}

TEST(LossyLink, AFaultThatReplacedAnotherOutlivesItsEnd) {
  const Outcome out = run_text(paced_under("{at: 1ms, until: 6ms, " + kUplink + ", drop: 1%}, {at: 5ms, until: 7ms, " +
                                           kUplink + ", drop: 100%}"));
  EXPECT_GE(20'000 - received(out), 2'000u) << "from 5 to 7 ms all of it";
  EXPECT_LE(20'000 - received(out), 2'000u + 80);
}

TEST(LossyLink, IsWellWhenTheFileSaysSo) {
  const Outcome out =
      run_text(paced_under("{at: 5ms, " + kUplink + ", drop: 100%}, {at: 10ms, node: spine1, set: clear}"));
  EXPECT_NEAR(static_cast<double>(received(out)), kPackets - 5'000, 2);
}

TEST(LossyLink, LosesTheSameFramesForTheSameSeedAndAnyNumberOfWorkers) {
  const std::string text =
      paced_under("{at: 0s, node: spine1, set: lossy, drop: 3%, corrupt: 1%}, {at: 4ms, " + kUplink + ", drop: 7%}");
  const Outcome one = run_text(text, {.workers = 1}, true);
  const Outcome two = run_text(text, {.workers = 2}, true);
  const Outcome other = run_text(text, {.seed = 2}, true);
  EXPECT_EQ(one.capture, two.capture) << "to the byte";
  EXPECT_NE(received(one), received(other));
}

TEST(LossyLink, AReliableConnectionSendsAgainWhatIsLost) {
  const Outcome out = run_text(
      paced_under("{at: 0s, " + kUplink + ", drop: 1%}", ", transport: rc, congestion_control: none, ack_timeout: 4"));
  const control::Json& flow = out.report["flows"]["w"];
  EXPECT_GT(flow["retransmitted_packets"].get<uint64_t>(), 100u);
  EXPECT_GT(flow["packet_seq_err"].get<uint64_t>(), 50u);
  EXPECT_EQ(out.snapshot.flows[0].received_bytes % 1024, 0u);
  EXPECT_EQ(flow["completed_messages"].get<uint64_t>(), 20'000u);
}

// h2 takes nothing: its ToR's port is paused, unless it is deaf. Then frames overrun the host's buffer.
std::string stopped_host(const std::string& faults) {
  return R"(
name: deaf
run: {duration: 4ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 2, mtu: 4096, dscp: 3}
faults:
  - {at: 0s, node: h2, set: slow_receiver, drain: 5Gbps}
)" + faults;
}
uint64_t overrun(const Outcome& out, const char* host) {
  return out.report["hosts"][host]["drops"]["receive_buffer_full"].get<uint64_t>();
}

TEST(DeafPort, OverrunsWhoPausesIt) {
  const Outcome well = run_text(stopped_host(""));
  EXPECT_EQ(overrun(well, "h2"), 0u);
  EXPECT_GT(well.report["switches"]["tor2"]["paused_ps"].get<uint64_t>(), 0u);
  const Outcome deaf = run_text(stopped_host("  - {at: 0s, link: \"tor2:Ethernet0\", set: deaf}\n"));
  EXPECT_GT(overrun(deaf, "h2"), 100u);
  EXPECT_EQ(received(deaf) + overrun(deaf, "h2"), 512u) << "2 MiB of 4 KiB each";
  const auto& tor = deaf.report["switches"]["tor2"];
  EXPECT_EQ(tor["paused_ps"].get<uint64_t>(), 0u) << "what is deaf is not paused";
  EXPECT_GT(tor["pfc_rx_packets"].get<uint64_t>(), 0u);
  EXPECT_GT(tor["pfc_rx_pause_ps"].get<uint64_t>(), 0u) << "for which it was asked to";
}

TEST(DeafPort, OfAnotherPriorityListens) {
  EXPECT_EQ(overrun(run_text(stopped_host("  - {at: 0s, node: tor2, set: deaf, priorities: [4]}\n")), "h2"), 0u);
  EXPECT_GT(overrun(run_text(stopped_host("  - {at: 0s, node: tor2, set: deaf, priorities: [3]}\n")), "h2"), 100u);
}

TEST(DeafPort, ListensAgainAfterwards) {
  // 1 MiB takes 86 us: deaf for the first 50 us only, half of the first message is too much for the buffer.
  const Outcome out = run_text(stopped_host("  - {at: 0s, until: 50us, link: \"tor2:Ethernet0\", set: deaf}\n"));
  const Outcome deaf = run_text(stopped_host("  - {at: 0s, link: \"tor2:Ethernet0\", set: deaf}\n"));
  EXPECT_LT(overrun(out, "h2"), overrun(deaf, "h2") / 2);
}

// Both messages wait in the fabric and at their host until h2's ToR may send; then all of them arrive.
TEST(DisabledPort, SendsNothingUntilItsTxIsEnabledAndLosesNothing) {
  const auto run = [](const std::string& until) {
    return run_text(R"(
name: disabled
run: {duration: 4ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 2, mtu: 4096, dscp: 3}
faults:
  - {at: 0s, )" + until +
                    R"(link: "tor2:Ethernet0", set: tx_disabled}
)");
  };
  EXPECT_EQ(received(run("")), 0u);
  const Outcome enabled = run("until: 1ms, ");
  EXPECT_EQ(received(enabled), 512u) << "2 MiB of 4 KiB each";
  EXPECT_GT(enabled.snapshot.flows[0].latency.max_ps, 900'000'000u);
  ASSERT_EQ(enabled.snapshot.faults.size(), 2u);
  EXPECT_EQ(enabled.snapshot.faults[0].what, "tor2:Ethernet0: TX disabled");
  EXPECT_EQ(enabled.snapshot.faults[1].what, "tor2:Ethernet0: TX enabled again");
}

std::string deaf_host(const std::string& faults) {
  return R"(
name: deaf-host
run: {duration: 4ms}
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}}
  links: [{endpoints: ["h1:eth0", "h2:eth0"], rate: 100Gbps, length: 3m}]
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 2, mtu: 4096, dscp: 3}
faults:
  - {at: 0s, node: h2, set: slow_receiver, drain: 5Gbps}
)" + faults;
}

TEST(DeafHost, OverrunsItsPeerAndCountsThePausesThatItDoesNotHeed) {
  EXPECT_EQ(overrun(run_text(deaf_host("")), "h2"), 0u);
  const Outcome deaf = run_text(deaf_host("  - {at: 0s, node: h1, set: deaf}\n"));
  EXPECT_GT(overrun(deaf, "h2"), 100u);
  const control::Json& pause = deaf.report["hosts"]["h1"]["pause"]["eth0"]["3"];
  EXPECT_GT(pause["rx_packets"].get<uint64_t>(), 0u);
  EXPECT_EQ(pause["paused_ps"].get<uint64_t>(), 0u);
  const Outcome other = run_text(deaf_host("  - {at: 0s, node: h1, set: deaf, priorities: [4]}\n"));
  EXPECT_EQ(overrun(other, "h2"), 0u);
}

TEST(DeafHost, HeedsPausesAgainOnceItIsWell) {
  const Outcome out = run_text(deaf_host("  - {at: 0s, node: h1, set: deaf}\n  - {at: 20us, node: h1, set: clear}\n"));
  EXPECT_GT(out.report["hosts"]["h1"]["pause"]["eth0"]["3"]["paused_ps"].get<uint64_t>(), 1'000'000u);
}

// h2 storms from 0.1 to 1 ms and again from 0.5 to 3 ms: the first end is not the second one's.
TEST(HostFault, AFaultThatReplacedAnotherOutlivesItsEnd) {
  const Outcome out = run_text(R"(
name: storms
run: {duration: 5ms}
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}}
  links: [{endpoints: ["h1:eth0", "h2:eth0"], rate: 100Gbps, length: 3m}]
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 2, mtu: 4096, dscp: 3}
faults:
  - {at: 100us, until: 1ms, node: h2, set: storm}
  - {at: 500us, until: 3ms, node: h2, set: storm}
)");
  // From 100 us to 3 ms, less the response, and then until the last refresh has lapsed: 335 us at most.
  const auto paused = out.report["hosts"]["h1"]["pause"]["eth0"]["3"]["paused_ps"].get<int64_t>();
  EXPECT_GT(paused, dataplane::Duration::us(2'890).count_ps());
  EXPECT_LT(paused, dataplane::Duration::us(2'900 + 336).count_ps());
}

// The same traffic over the same fault at the same port number of two hosts: each has a stream of its own.
TEST(LossyLink, TwoNodesLoseDifferentFrames) {
  const Outcome out = run_text(R"(
name: streams
run: {duration: 30ms}
topology:
  nodes: {h1: {kind: host}, h2: {kind: host}, h3: {kind: host}, h4: {kind: host}}
  links:
    - {endpoints: ["h1:eth0", "h2:eth0"], rate: 100Gbps, length: 3m}
    - {endpoints: ["h3:eth0", "h4:eth0"], rate: 100Gbps, length: 3m}
workload:
  - {name: a, pattern: pairs, from: [h1], to: [h2], message: 1024B, messages: 20000, mtu: 1024, rate: 8.976Gbps}
  - {name: b, pattern: pairs, from: [h3], to: [h4], message: 1024B, messages: 20000, mtu: 1024, rate: 8.976Gbps}
faults:
  - {at: 0s, link: "h1:eth0", set: lossy, drop: 10%}
  - {at: 0s, link: "h3:eth0", set: lossy, drop: 10%}
)");
  const auto lost = [&](const char* port) { return out.report["links"][port]["vanished_packets"].get<uint64_t>(); };
  ASSERT_GT(lost("h1:eth0"), 0u);
  EXPECT_NE(lost("h1:eth0"), lost("h3:eth0")) << "equal by chance for one seed in 150";
}

// What is asked for before the first window happens at its beginning, as any request between two windows would.
TEST(LiveFault, EndsAfterTheTimeThatItWasGiven) {
  const control::Testbed testbed = testbed_of(paced_under(""));
  const auto fault = control::parse_live_fault(
      R"({"at": "0s", "until": "5ms", "link": "tor1:Ethernet4", "set": "lossy", "drop": "100%"})", testbed);
  ASSERT_TRUE(fault);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric) << fabric.error();
  (*fabric)->part<LiveControl>().inject_fault(*fault);
  ASSERT_TRUE((*fabric)->run());
  EXPECT_NEAR(static_cast<double>((*fabric)->snapshot().flows[0].received_packets), kPackets - 5'000, 2);
  EXPECT_EQ((*fabric)->drain(), 0u);
}

}  // namespace
}  // namespace softspine::testbeds
