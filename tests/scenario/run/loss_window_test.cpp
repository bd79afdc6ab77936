// SPDX-License-Identifier: Apache-2.0
// What each fault has cost: the time to its last loss, packets by reason and flow, stalls, recovery. All by arithmetic:
// a packet each microsecond, so as many are lost as microseconds pass.
#include <fmt/format.h>

#include "control/telemetry/audit.hpp"
#include "testbeds/run/live_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/paced_flow.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr int64_t kMicrosecond = 1'000'000;  // ps

std::string down(int spine, const char* at) {
  return fmt::format("{{at: {}, link: \"tor1:Ethernet{}\", set: down}}", at, 4 * spine);
}

uint64_t packets_for(const Json& sums, const std::string& reason) {
  for (const Json& each : sums) {
    if (each["reason"] == reason) return each["packets"].get<uint64_t>();
  }
  return 0;
}

TEST(LossWindow, LastsFromTheFaultUntilRoutesFollow) {
  const Outcome out = run_text(paced("faults: [" + down(used_spine(), "100us") + "]\nconvergence: 50us\n"));
  const Json& window = out.report["faults"][0]["loss_window"];
  const auto lost = window["lost_packets"].get<uint64_t>();
  EXPECT_EQ(lost, out.snapshot.flows[0].missing());
  EXPECT_NEAR(static_cast<double>(lost), 50, 2) << "one a microsecond";
  EXPECT_EQ(window["lost_bytes"], lost * 1098);
  EXPECT_EQ(packets_for(window["reasons"], "link_down"), lost);
  EXPECT_NEAR(window["window_ps"].get<double>(), 50 * kMicrosecond, 2 * kMicrosecond);
  EXPECT_EQ(window["converged_ps"], 150 * kMicrosecond);
  EXPECT_TRUE(window["ended_ps"].is_null()) << "nobody repairs it";
  EXPECT_TRUE(window["recovered_ps"].is_null());
  EXPECT_EQ(window["flows_lost"], 1);
  EXPECT_EQ(window["flows"][0]["lost_packets"], lost);
  EXPECT_EQ(out.report["unexplained_losses"], Json::array());
}

TEST(LossWindow, ShowsFlowsThatStandStillAndForHowLong) {
  const Outcome out = run_text(paced("faults: [" + down(used_spine(), "100us") + "]\nconvergence: 200us\n"));
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_EQ(window["flows_stalled"], 1);
  // One look at most too long.
  EXPECT_GE(window["longest_stall_ps"].get<int64_t>(), 199 * kMicrosecond);
  EXPECT_LE(window["longest_stall_ps"].get<int64_t>(), 213 * kMicrosecond);
  EXPECT_GE(window["moving_ps"].get<int64_t>(), 300 * kMicrosecond);
  EXPECT_LE(window["moving_ps"].get<int64_t>(), 313 * kMicrosecond);
}

TEST(LossWindow, IsOverWhenRoutesAreAsTheyWereAndAllFlowsMove) {
  const int spine = used_spine();
  const Outcome out = run_text(paced("faults: [" + down(spine, "100us") +
                                     fmt::format(", {{at: 300us, link: \"tor1:Ethernet{}\", set: up}}", 4 * spine) +
                                     "]\nconvergence: 10us\n"));
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_EQ(window["ended_ps"], 300 * kMicrosecond);
  EXPECT_EQ(window["recovered_ps"], 310 * kMicrosecond);
  EXPECT_FALSE(out.report["faults"][1].contains("loss_window")) << "a repair is no fault";
}

// The frames on 400 km of cables are lost in one control action, those behind them in a few windows.
TEST(LossWindow, HasEveryPacketHoweverManyAreLostAtOnceAndOnAnyNumberOfWorkers) {
  const std::string text = R"(
name: far
run: {duration: 1300us, seed: 1, clock_ppm: 0, start_jitter: 0%}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 400Gbps, length: 3m}, fabric_link: {rate: 400Gbps, length: 100km}}
workload: [{name: w, pattern: ring, message: 1MiB, messages: 200, mtu: 256}]
faults: [{at: 1200us, node: spine1, set: down}]
)";
  const Outcome alone = run_text(text);
  const Json& window = alone.report["faults"][0]["loss_window"];
  uint64_t cut = 0;
  for (const auto& node : alone.snapshot.switches) {
    for (const auto& port : node.ports) cut += port.link.cut_packets;
  }
  // On each of four ways as many as 100 km of light at 198,000 km/s hold, 338 bytes each, at 400 Gb/s.
  EXPECT_NEAR(static_cast<double>(cut), 4 * (100.0 / 198'000) * 400e9 / 8 / 338, 10);
  uint64_t missing = 0;
  for (const auto& flow : alone.snapshot.flows) missing += flow.missing();
  EXPECT_EQ(window["lost_packets"], missing);
  EXPECT_GT(missing, cut);
  for (const uint32_t workers : {2U, 3U}) {
    const Outcome out = run_text(text, {.workers = workers});
    EXPECT_EQ(without_engine(out.report), without_engine(alone.report)) << workers << " workers";
  }
}

TEST(LossWindow, OfAFlowThatNeverMovesAgainHasNoEnd) {
  const Outcome out = run_text(paced("faults: [{at: 100us, node: h2, set: down}]\n"));
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_NEAR(window["lost_packets"].get<double>(), 900, 3);
  EXPECT_TRUE(window["moving_ps"].is_null() || window["flows"][0]["still_stalled"] == false);
  EXPECT_EQ(out.report["totals"]["missing_packets"], window["lost_packets"]);
}

TEST(LossWindow, OfTheLatestFaultThatExplainsALossHasIt) {
  const int used = used_spine();
  const Outcome out = run_text(paced("faults: [" + down(used, "100us") + ", " + down(3 - used, "200us") + "]\n"));
  const Json& first = out.report["faults"][0]["loss_window"];
  const Json& second = out.report["faults"][1]["loss_window"];
  EXPECT_LE(first["lost_packets"].get<uint64_t>(), 2u) << "what was on the link: routes follow at once";
  EXPECT_NEAR(static_cast<double>(packets_for(second["reasons"], "no_route")), 800, 3)
      << "with the second link there would be a route";
  EXPECT_EQ(out.report["unexplained_losses"], Json::array());
}

TEST(LossWindow, LeavesWhatNoFaultExplainsApart) {
  const Outcome out = run_text(R"(
name: incast
run: {duration: 2ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload:
  - {name: w, pattern: incast, from: [h1, h2, h3, h4], to: [h5], message: 4MB, messages: 1, mtu: 4096}
faults: [{at: 1us, link: "tor2:Ethernet12", set: down}]
)");
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_EQ(window["lost_packets"], 0) << "nobody sends to h8";
  EXPECT_EQ(window["window_ps"], 0);
  const auto full = out.report["totals"]["drops"]["queue_full"].get<uint64_t>();
  EXPECT_GT(full, 0u);
  EXPECT_EQ(packets_for(out.report["unexplained_losses"], "queue_full"), full);
}

TEST(LossWindow, OfACableIsWhatItLosesAndDamages) {
  const int spine = used_spine();
  const Outcome out = run_text(
      paced(fmt::format("faults: [{{at: 100us, link: \"tor1:Ethernet{}\", set: lossy, drop: 20%, corrupt: 10%, "
                        "direction: out, until: 600us}}]\n",
                        4 * spine)));
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_EQ(packets_for(window["reasons"], "vanished"), out.report["totals"]["vanished_on_links"]);
  EXPECT_EQ(packets_for(window["reasons"], "damaged"), out.report["totals"]["damaged_on_links"]);
  EXPECT_NEAR(window["lost_packets"].get<double>(), 150, 45) << "30 % of 500";
  EXPECT_EQ(window["ended_ps"], 600 * kMicrosecond);
  EXPECT_EQ(window["recovered_ps"], 600 * kMicrosecond);
  EXPECT_LT(window["last_loss_ps"].get<int64_t>(), 600 * kMicrosecond);
}

TEST(LossWindow, OfAStormHasWhatTheWatchdogDrops) {
  const auto testbed = control::load_testbed(tests::source_root() / "testbeds" / "pfc-storm-watchdog.yaml");
  ASSERT_TRUE(testbed);
  const Outcome out = run_whole(*testbed);
  uint64_t by_watchdog = 0;
  uint64_t of_faults = 0;
  for (const char* reason : {"pfc_watchdog", "pfc_watchdog_ingress"}) {
    by_watchdog += out.report["totals"]["drops"][reason].get<uint64_t>();
    for (const Json& fault : out.report["faults"]) {
      if (fault.contains("loss_window")) of_faults += packets_for(fault["loss_window"]["reasons"], reason);
    }
  }
  EXPECT_GT(by_watchdog, 0u);
  EXPECT_EQ(of_faults, by_watchdog);
}

TEST(LossWindow, IsTheSameForAnyNumberOfWorkers) {
  const std::string text = R"(
name: many
run: {duration: 2ms}
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: w, pattern: permutation, message: 1MB, messages: 2, mtu: 4096, transport: rc, window: 65536}]
faults:
  - {at: 50us, node: p1-agg1, set: down}
  - {at: 80us, node: core1, set: lossy, drop: 5%, until: 300us}
  - {at: 400us, node: p1-agg1, set: up}
convergence: 100us
)";
  std::string of_one;
  for (const uint32_t workers : {1U, 2U, 4U}) {
    control::Overrides overrides;
    overrides.workers = workers;
    const Outcome out = run_text(text, overrides);
    const std::string found = out.report["faults"].dump(1) + out.report["unexplained_losses"].dump(1);
    if (workers == 1) of_one = found;
    EXPECT_EQ(found, of_one) << workers << " workers";
    EXPECT_GT(out.report["faults"][0]["loss_window"]["lost_packets"].get<uint64_t>(), 0u);
  }
}

TEST(LossWindow, IsNotRecordedInARunWithoutFaults) {
  EXPECT_FALSE(run_text(paced("")).snapshot.loss_account);
}

TEST(LossWindow, BeginsWithTheFirstFaultThatIsInjected) {
  const control::Testbed testbed = testbed_of(paced(""));
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt});
  ASSERT_TRUE(fabric) << fabric.error();
  std::vector<uint32_t> all(testbed.fabric.links.size());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  (*fabric)->part<LiveControl>().set_links(all, false);
  ASSERT_TRUE((*fabric)->run());
  const control::FabricSnapshot snapshot = (*fabric)->snapshot();
  ASSERT_TRUE(snapshot.loss_account);
  EXPECT_FALSE(snapshot.loss_account->is_whole);
  EXPECT_EQ(control::audit(snapshot), std::vector<std::string>{});
  EXPECT_EQ((*fabric)->drain(), 0u);
}

TEST(LossWindow, MustAddUpWithTheCounters) {
  const Outcome out = run_text(paced("faults: [" + down(used_spine(), "100us") + "]\nconvergence: 50us\n"));
  control::FabricSnapshot snapshot = out.snapshot;
  ASSERT_EQ(control::audit(snapshot), std::vector<std::string>{});
  ++snapshot.loss_account->explained.at(0).sum.packets;
  EXPECT_EQ(control::audit(snapshot).size(), 1u) << "a loss too many";
  --snapshot.loss_account->explained.at(0).sum.packets;
  ++snapshot.loss_account->lost_of_flow.at(0);
  EXPECT_EQ(control::audit(snapshot).size(), 1u) << "a flow's loss too many";
}

// Two senders at line rate into one queue of 96 KiB: congestion, whatever else is wrong with the port that it leaves
// by.
TEST(LossWindow, AFullQueueIsNoLossOfAPortThatIsDeafOrLossy) {
  for (const std::string fault : {"set: deaf", "set: lossy, drop: 0.0001%", "set: tx_disabled"}) {
    const Outcome out = run_text(R"(
name: full
run: {duration: 200us}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 3, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps}}
profiles: {default: {queue_limit: 96KiB}}
workload:
  - {name: w, pattern: incast, from: [h1, h2], to: h3, message: 256KiB, mtu: 1024}
faults: [{at: 0s, link: "tor1:Ethernet8", )" +
                                 fault + "}]\n");
    const uint64_t full = out.report["totals"]["drops"]["queue_full"].get<uint64_t>();
    EXPECT_GT(full, 100u);
    const bool stops = fault == "set: tx_disabled";
    EXPECT_EQ(packets_for(out.report["unexplained_losses"], "queue_full"), stops ? 0 : full) << fault;
  }
}

// Both senders' first packets overflow a queue of 96 KiB long before the fault, which strikes elsewhere.
TEST(LossWindow, HasWhatWasLostBeforeTheFirstFaultOfAnyKind) {
  for (const std::string fault : {"link: \"tor1:Ethernet12\", set: down", "link: \"tor1:Ethernet12\", set: deaf",
                                  "node: h4, set: slow_receiver, drain: 1Gbps"}) {
    const Outcome out = run_text(R"(
name: before
run: {duration: 200us}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps}}
profiles: {default: {queue_limit: 96KiB}}
workload:
  - {name: w, pattern: incast, from: [h1, h2], to: h3, message: 256KiB, mtu: 1024}
faults: [{at: 150us, )" + fault + "}]\n");
    const uint64_t full = number(out.report["totals"]["drops"], "queue_full");
    EXPECT_GT(full, 100U) << fault;
    ASSERT_TRUE(out.snapshot.loss_account) << fault;
    EXPECT_TRUE(out.snapshot.loss_account->is_whole) << fault;
    EXPECT_EQ(packets_for(out.report["unexplained_losses"], "queue_full"), full) << fault;
  }
}

// 80,000 flows of a packet each, which all die; 65,536 flows are listed.
TEST(LossWindow, CountsThePacketsOfFlowsBeyondThoseThatItLists) {
  const Outcome out = run_text(R"(
name: many
run: {duration: 2ms}
fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: w, pattern: pairs, from: [h1, h2], to: [h2, h1], message: 1B, messages: 1, mtu: 256, qps: 40000}]
faults: [{at: 0s, node: tor1, set: lossy, drop: 100%}]
)");
  const Json& window = out.report["faults"][0]["loss_window"];
  EXPECT_EQ(window["lost_packets"], 80'000);
  EXPECT_EQ(window["flows_lost"], 65'536);
  EXPECT_EQ(window["unlisted_packets"], 80'000 - 65'536);
}

}  // namespace
}  // namespace softspine::testbeds
