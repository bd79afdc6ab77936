// SPDX-License-Identifier: Apache-2.0
// Hosts with two ports whose links fail: their flows change the port after detection, and go back after repair.
#include <algorithm>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Two hosts behind the same pair of ToRs; h1's first port leads to tor1, its second to tor2.
std::string pair_of_hosts(const std::string& bond, const std::string& workload, const std::string& faults,
                          const std::string& fabric = "planes: 1, cores: 0") {
  return "name: bond\nrun: {duration: 40ms}\n"
         "fabric: {kind: hpn, segments: 1, servers_per_segment: 2, rails: 1, aggregations_per_plane: 1, " +
         fabric + ",\n  host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 400Gbps}, bond: {" + bond +
         "}}\nprofiles: {default: {base: lossless}}\nworkload:\n  - {name: w, pattern: pairs, from: [s1-h1-nic1], to: "
         "[s1-h2-nic1], " +
         workload + "}\nfaults: [" + faults + "]\n";
}

constexpr const char* kTwoOpen = "message: 4096B, messages: 2000, mtu: 4096, qps: 2";
constexpr const char* kFourReliable =
    "message: 64KiB, messages: 100, mtu: 4096, qps: 4, transport: rc, ack_timeout: 4, retries: 7";
constexpr const char* kCutSecond = "{at: 100us, link: s1-h1-nic1:eth1, set: down}";
constexpr const char* kCutTheirs = "{at: 100us, link: s1-h2-nic1:eth1, set: down}";

uint64_t sent_by(const Outcome& out, size_t port) {
  return host_of(out, "s1-h1-nic1").ports[port].link.packets;
}
uint64_t total(const Outcome& out, const char* key) {
  return out.report["totals"][key].get<uint64_t>();
}
uint64_t of_flows(const Outcome& out, const char* key) {
  return out.report["flows"]["w"][key].get<uint64_t>();
}

// What one frame of these flows takes on a link of the hosts: 4096 bytes of payload, 14 of Ethernet, 20, 8, 12, 16 and
// 4 of RoCEv2, 24 of FCS, preamble and gap.
constexpr int64_t frame_ps() {
  return (4096 + 14 + 20 + 8 + 12 + 16 + 4 + 24) * 80;
}

// Flows of one packet a message at line rate, one a port. What left by eth1 before the cut is n; after detection eth0
// carries everything else without a gap, so its last frame leaves 2000 + (2000 − n) frames after the start.
TEST(Bond, OneLinksFlowsTakeTheOtherOneAfterDetection) {
  const Outcome whole = run_text(pair_of_hosts("miimon: 10us", kTwoOpen, ""));
  const Outcome cut = run_text(pair_of_hosts("miimon: 10us", kTwoOpen, kCutSecond));
  constexpr uint64_t kBefore = 100'000'000 / frame_ps() + 1;
  EXPECT_EQ(sent_by(whole, 0), 2000U);
  EXPECT_EQ(sent_by(whole, 1), 2000U);
  EXPECT_EQ(sent_by(cut, 1), kBefore);
  EXPECT_EQ(sent_by(cut, 0), 4000 - kBefore);
  const control::HostSnapshot& host = host_of(cut, "s1-h1-nic1");
  EXPECT_EQ(host.counters.failovers, 1U);
  EXPECT_EQ(host.counters.flows_moved, 1U);
  const int64_t path = whole.snapshot.flows[0].completion->count_ps() - 2000 * frame_ps();
  const int64_t last = std::max((cut.snapshot.flows[0].last_arrived - dataplane::Instant{}).count_ps(),
                                (cut.snapshot.flows[1].last_arrived - dataplane::Instant{}).count_ps());
  EXPECT_EQ(last, static_cast<int64_t>(4000 - kBefore) * frame_ps() + path);
  EXPECT_LE(of_flows(cut, "missing_packets"), 2U) << "what was on the link";
  EXPECT_EQ(total(cut, "stalled_flows"), 0U);
}

TEST(Bond, FlowsGoBackOnceTheLinkHasBeenUpForUpdelay) {
  const Outcome out =
      run_text(pair_of_hosts("miimon: 10us, updelay: 30us", kTwoOpen,
                             std::string(kCutSecond) + ", {at: 205us, link: s1-h1-nic1:eth1, set: up}"));
  EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.failovers, 1U);
  EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.flows_moved, 2U) << "there at 100 us and back at 210 + 30 us";
  // By eth0 until then: all of the first flow's, and half of what eth0 sent from 100 to 240 us of the second's.
  const uint64_t guests = sent_by(out, 0) - 2000;
  EXPECT_NEAR(static_cast<double>(guests), 140e6 / frame_ps() / 2, 1.5);
  EXPECT_EQ(sent_by(out, 0) + sent_by(out, 1), 4000U);
}

TEST(Bond, AFlapBetweenTwoLooksIsNotSeen) {
  const Outcome out = run_text(
      pair_of_hosts("miimon: 10us", kTwoOpen,
                    "{at: 101us, link: s1-h1-nic1:eth1, set: down}, {at: 108us, link: s1-h1-nic1:eth1, set: up}"));
  EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.failovers, 0U);
  EXPECT_EQ(sent_by(out, 1), 2000U) << "it waited";
}

TEST(Bond, WhoNeverLooksStallsAndTheReportSaysSo) {
  const Outcome out = run_text(pair_of_hosts("miimon: 0s, remote_failover: none", kFourReliable, kCutSecond));
  EXPECT_EQ(total(out, "completed"), 2U);
  EXPECT_EQ(total(out, "stalled_flows"), 2U);
  ASSERT_EQ(out.report["stalled"].size(), 1U);
  EXPECT_EQ(out.report["stalled"][0]["flows"], 2);
}

// Unless its connections change the path themselves.
TEST(Bond, ConnectionsOfWhoNeverLooksTimeOutAndTakeTheOtherPort) {
  const Outcome out = run_text(pair_of_hosts("miimon: 0s, remote_failover: transport", kFourReliable, kCutSecond));
  EXPECT_EQ(total(out, "completed"), 4U);
  EXPECT_EQ(of_flows(out, "path_changes"), 2U);
  EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.failovers, 0U);
}

// The run ends 1 us before the look at 200 us, or 1 us behind it. Where the other port has no link either, no look
// helps.
TEST(Bond, WhoWillLookAfterTheEndHasAWayToGoOn) {
  const auto ends_at = [](const std::string& end, const std::string& bond, const std::string& faults) {
    std::string text = pair_of_hosts(bond, kFourReliable, faults);
    text.replace(text.find("40ms"), 4, end);
    return run_text(text);
  };
  for (const char* const end : {"199us", "201us"}) {
    const Outcome out = ends_at(end, "miimon: 200us, remote_failover: none", kCutSecond);
    EXPECT_EQ(total(out, "stalled_flows"), 0U) << end;
    EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.failovers, end == std::string("201us") ? 1U : 0U);
  }
  const std::string both = std::string(kCutSecond) + ", {at: 100us, link: s1-h1-nic1:eth0, set: down}";
  EXPECT_EQ(total(ends_at("199us", "miimon: 200us", both), "stalled_flows"), 4U);
  EXPECT_EQ(total(ends_at("199us", "miimon: 0s, remote_failover: none", kCutSecond), "stalled_flows"), 2U);
}

TEST(Bond, BothLinksDownIsAWaitForEitherOfThem) {
  const std::string both = "{at: 50us, link: s1-h1-nic1:eth0, set: down}, {at: 51us, link: s1-h1-nic1:eth1, set: down}";
  const Outcome out =
      run_text(pair_of_hosts("miimon: 10us", kFourReliable, both + ", {at: 333us, link: s1-h1-nic1:eth1, set: up}"));
  EXPECT_EQ(total(out, "completed"), 4U);
  EXPECT_EQ(total(out, "stalled_flows"), 0U);
  const Outcome dead = run_text(pair_of_hosts("miimon: 10us", kFourReliable, both));
  EXPECT_EQ(total(dead, "completed"), 0U);
  EXPECT_EQ(total(dead, "stalled_flows"), 4U);
}

TEST(Bond, AnActiveBackupCarriesEverythingOrNothing) {
  const std::string bond = "mode: active-backup, miimon: 10us";
  const Outcome whole = run_text(pair_of_hosts(bond, kFourReliable, ""));
  EXPECT_EQ(sent_by(whole, 1), 0U);
  EXPECT_EQ(host_of(whole, "s1-h2-nic1").ports[1].link.packets, 0U) << "acknowledgements, too";
  const Outcome cut = run_text(pair_of_hosts(bond, kFourReliable, "{at: 100us, link: s1-h1-nic1:eth0, set: down}"));
  EXPECT_GT(sent_by(cut, 1), 0U);
  EXPECT_EQ(host_of(cut, "s1-h1-nic1").counters.flows_moved, 4U);
  EXPECT_EQ(total(cut, "completed"), 4U);
}

// The peer has lost a port. One plane: its other ToR has a host route to it, which all follow after the convergence.
TEST(Bond, OnePlaneRoutesAroundAPeersDeadPort) {
  const std::string converges = std::string(kCutTheirs) + "]\nconvergence: 50us\nexpect: [";
  const Outcome routed = run_text(pair_of_hosts("miimon: 10us, remote_failover: route", kFourReliable, converges));
  EXPECT_EQ(total(routed, "completed"), 4U);
  EXPECT_EQ(of_flows(routed, "path_changes"), 0U);
  EXPECT_GT(total(routed, "route_changes"), 0U);
  const Outcome none = run_text(pair_of_hosts("miimon: 10us, remote_failover: none", kFourReliable, converges));
  EXPECT_EQ(of_flows(none, "retry_exceeded_err"), 2U);
  EXPECT_EQ(total(none, "stalled_flows"), 2U);
}

// Two planes that never meet: no way for what leaves on the peer's dead plane, but its sender may change the plane.
TEST(Bond, PlanesApartLeaveItToTheTransport) {
  const std::string apart = "planes: 2, cores: 0";
  const Outcome routed =
      run_text(pair_of_hosts("miimon: 10us, remote_failover: route", kFourReliable, kCutTheirs, apart));
  EXPECT_EQ(total(routed, "completed"), 2U);
  EXPECT_EQ(total(routed, "stalled_flows"), 2U);
  EXPECT_GT(routed.report["totals"]["drops"]["neighbour_incomplete"].get<uint64_t>(), 0U)
      << "nobody there to answer ARP";
  const Outcome changed = run_text(pair_of_hosts("miimon: 10us, remote_failover: transport, path_change_after: 2",
                                                 kFourReliable, kCutTheirs, apart));
  EXPECT_EQ(total(changed, "completed"), 4U);
  EXPECT_EQ(of_flows(changed, "path_changes"), 2U);
  EXPECT_EQ(of_flows(changed, "local_ack_timeout_err"), 4U) << "two flows, two timeouts each";
  EXPECT_EQ(total(changed, "stalled_flows"), 0U);
}

// Nothing tells an open loop's sender that its plane is lost: what goes there is lost to the end, and counted.
TEST(Bond, AnOpenLoopOverALostPlaneIsCutOff) {
  const std::string apart = "planes: 2, cores: 0";
  const std::string open = "message: 64KiB, messages: 100, mtu: 4096, qps: 4, rate: 40Gbps";
  const Outcome out = run_text(pair_of_hosts("miimon: 10us", open, kCutTheirs, apart));
  EXPECT_EQ(total(out, "completed"), 2U);
  EXPECT_EQ(total(out, "stalled_flows"), 0U) << "they have ended";
  EXPECT_EQ(total(out, "cut_off_flows"), 2U);
  EXPECT_EQ(of_flows(out, "cut_off_flows"), 2U);
  const std::string repaired = std::string(kCutTheirs) + ", {at: 1ms, link: s1-h2-nic1:eth1, set: up}";
  const Outcome back = run_text(pair_of_hosts("miimon: 10us", open, repaired, apart));
  EXPECT_GT(total(back, "missing_packets"), 300U) << "two flows of 10 Gb/s for 900 us: 297 packets a millisecond each";
  EXPECT_EQ(total(back, "cut_off_flows"), 0U) << "their last packets have arrived";
}

TEST(Bond, OnePortWaitsAndTheReportSaysWhoStalled) {
  const std::string text =
      "name: single\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
      "fabric_link: {rate: 100Gbps}}\nworkload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 4KiB, "
      "messages: 1000}]\nfaults: [{at: 100us, link: h1:eth0, set: down}";
  const Outcome dead = run_text(text + "]\n");
  EXPECT_EQ(total(dead, "stalled_flows"), 1U);
  EXPECT_EQ(dead.report["stalled"][0]["why"], "h1:eth0 has no link");
  const Outcome repaired = run_text(text + ", {at: 1ms, link: h1:eth0, set: up}]\n");
  EXPECT_EQ(total(repaired, "stalled_flows"), 0U);
  EXPECT_EQ(repaired.snapshot.flows[0].sent_messages, 1000U);
}

}  // namespace
}  // namespace softspine::testbeds
