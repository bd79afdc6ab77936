// SPDX-License-Identifier: Apache-2.0
// Why a rank was late: testbeds with one known cause each, and what is said of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "control/report/step_text.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::JobSteps;
using control::RankSteps;
using control::StepWait;
using control::WaitCause;
using dataplane::Duration;

constexpr const char* kRing =
    "collectives: [{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 8MiB, ranks: "
    "[h1, h2, h3, h4]";

std::string ring_of_four(const std::string& keys, const std::string& more = "", int tors = 1,
                         const std::string& fabric_rate = "100Gbps") {
  return fmt::format(
      "name: c\nrun: {{duration: 200ms}}\nfabric: {{kind: leaf-spine, tors: {}, spines: 1, hosts_per_tor: {}, "
      "host_link: {{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: {}, length: 3m}}}}\n"
      "roles: {{tor: lossless, aggregation: lossless}}\n{}{}}}]\n{}",
      tors, 8 / tors, fabric_rate, kRing, keys, more);
}

struct Recorded {
  control::FabricSnapshot snapshot;
  std::string json;
};

// Nothing holds a message for longer than it is under way.
void expect_possible(const Recorded& run) {
  for (const JobSteps& job : run.snapshot.steps->jobs) {
    for (const RankSteps& rank : job.ranks) {
      for (const StepWait& wait : rank.longest) {
        const control::WaitReason& it = wait.reason;
        if (it.to_host.empty()) continue;
        EXPECT_LE(it.started, it.posted) << run.json;
        EXPECT_LE(it.paused, it.arrived - it.posted) << run.json;
        EXPECT_LE(it.longest_stay, it.arrived - it.posted) << run.json;
      }
    }
  }
}

Recorded recorded(const std::string& text, uint32_t workers = 1, bool flat = false) {
  const control::Testbed testbed = testbed_of(text, {.workers = workers});
  if (testing::Test::HasFailure()) return {};
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt, .flat = flat, .steps = true});
  if (!fabric) {
    ADD_FAILURE() << fabric.error();
    return {};
  }
  EXPECT_TRUE((*fabric)->run());
  Recorded out{.snapshot = (*fabric)->snapshot()};
  out.json = control::steps_json(*out.snapshot.steps, testbed.name).dump(1);
  EXPECT_EQ((*fabric)->drain(), 0U);
  expect_possible(out);
  return out;
}

const JobSteps& job_of(const Recorded& run) {
  return run.snapshot.steps->jobs.at(0);
}

const StepWait& longest_of(const Recorded& run) {
  const auto time = [](const RankSteps& rank) {
    return rank.longest.empty() ? Duration{} : rank.longest[0].to - rank.longest[0].from;
  };
  return std::ranges::max_element(job_of(run).ranks, {}, time)->longest.at(0);
}

// In the words of the table of causes: what most was waited for.
std::string main_cause(const Recorded& run) {
  const control::CauseOfWaits& most = job_of(run).causes.at(0);
  return fmt::format("{} {} {}", control::kWaitCauseWords[static_cast<size_t>(most.cause)], most.what, most.root);
}

TEST(Steps, AreRecordedOnlyWhenAskedFor) {
  EXPECT_EQ(run_text(ring_of_four("")).snapshot.steps, nullptr);
}

// Rank r's waits are those that the report has counted.
TEST(Steps, AddUpToWhatTheReportSays) {
  const Recorded run = recorded(ring_of_four(", reduce_rate: 80Gbps"));
  const control::CollectiveSnapshot& collective = run.snapshot.collectives.at(0);
  Duration most;
  Duration least = Duration::max();
  for (const RankSteps& rank : job_of(run).ranks) {
    most = std::max(most, rank.waited);
    least = std::min(least, rank.waited);
  }
  EXPECT_EQ(most, collective.longest_wait.waited);
  EXPECT_EQ(least, collective.least_wait.waited);
}

// Nothing competes: what is waited for is the bytes' own time.
TEST(Steps, OfAQuietRingWaitForBytesAlone) {
  const Recorded run = recorded(ring_of_four(""));
  for (const control::CauseOfWaits& cause : job_of(run).causes) EXPECT_EQ(cause.cause, WaitCause::kTransfer);
}

// Three hosts send to h3, too, through its one port.
TEST(Steps, NameThePortThatAnIncastFills) {
  const Recorded run = recorded(
      ring_of_four("",
                   "workload: [{name: w, pattern: incast, from: [h5, h6, h7], to: h3, message: 1MiB, messages: 2, "
                   "start: 200us}]\n"));
  const control::WaitReason& reason = longest_of(run).reason;
  const std::string port = "tor1:Ethernet8";
  EXPECT_TRUE(reason.port == port || reason.congested_port == port) << run.json;
  EXPECT_EQ(reason.to_host, "h3");
  EXPECT_GT(reason.time, Duration::us(100));
}

TEST(Steps, NameTheSlowGpu) {
  const Recorded run = recorded(
      "name: t\nrun: {duration: 200ms}\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 4, host_link: "
      "{rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}\nroles: {tor: lossless}\n"
      "topology: {nodes: {h3: {compute_scale: 200%}}}\n"
      "training: [{name: g, tensor_parallel: 4, algorithm: ring, protocol: simple, layers: [{name: a, times: 3, "
      "forward: {compute: 400us, op: all_reduce, size: 1MiB}}]}]\n");
  const control::WaitReason& reason = longest_of(run).reason;
  EXPECT_EQ(reason.cause, WaitCause::kCompute) << run.json;
  EXPECT_EQ(reason.host, "h3");
  // Twice as long as the others, who had their own first chunk to send meanwhile.
  EXPECT_GT(reason.time, Duration::us(350));
  EXPECT_LE(reason.time, Duration::us(400));
  EXPECT_EQ(job_of(run).causes.at(0).cause, WaitCause::kCompute);
}

// Whatever queue pairs its messages go by, in turns, in parts, or by what is outstanding.
TEST(Steps, FollowMessagesByTheQueuePairsThatTheyTake) {
  for (const std::string scaling : {"round_robin", "split", "least_outstanding"}) {
    const Recorded run = recorded(
        ring_of_four(", qps: 3, scaling: " + scaling,
                     "workload: [{name: w, pattern: incast, from: [h5, h6, h7], to: h3, message: 1MiB, messages: 2, "
                     "start: 200us}]\n"));
    const control::WaitReason& reason = longest_of(run).reason;
    const std::string port = "tor1:Ethernet8";
    EXPECT_TRUE(reason.port == port || reason.congested_port == port) << scaling << run.json;
    EXPECT_EQ(reason.to_host, "h3") << scaling;
  }
}

// Between two broadcasts tor1 pauses h1, for what it sends to h8, and h2 pauses tor1. The second one meets other
// senders.
TEST(Steps, BlameNoPauseThatWasOverBefore) {
  const Recorded run = recorded(
      "name: c\nrun: {duration: 200ms}\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 8, host_link: "
      "{rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}\nroles: {tor: lossless}\n"
      "collectives: [{name: g, op: broadcast, protocol: simple, size: 1MiB, ranks: [h1, h2], compute: 8ms, "
      "iterations: 2}]\n"
      "workload:\n"
      "  - {name: v, pattern: pairs, from: [h1], to: [h8], message: 32MiB, messages: 1, dscp: 3, start: 9ms}\n"
      "  - {name: w, pattern: incast, from: [h5, h6], to: h2, message: 256KiB, messages: 1, start: 16090us}\n"
      "faults: [{at: 9100us, node: h8, set: storm, priorities: [3], until: 11ms}, {at: 12ms, node: h2, set: storm, "
      "priorities: [3], until: 13ms}]\n");
  EXPECT_GT(run.snapshot.hosts.at(0).ports[0].pause[3].rx_frames, 0U);
  EXPECT_GT(run.snapshot.switches.at(0).ports[1].pauses[3].time, Duration::us(900));
  const auto& causes = job_of(run).causes;
  EXPECT_NE(std::ranges::find(causes, WaitCause::kQueue, &control::CauseOfWaits::cause), causes.end()) << run.json;
  for (const control::CauseOfWaits& cause : causes) EXPECT_NE(cause.cause, WaitCause::kPause) << run.json;
}

TEST(Steps, NameWhoPausedAndWhoMadeThem) {
  const Recorded run =
      recorded(ring_of_four("", "faults: [{at: 200us, node: h3, set: storm, priorities: [3], until: 900us}]\n"));
  const StepWait& wait = longest_of(run);
  EXPECT_EQ(wait.reason.cause, WaitCause::kPause) << run.json;
  EXPECT_EQ(wait.reason.port, "tor1:Ethernet8");
  EXPECT_EQ(wait.reason.paused_by, std::vector<std::string>{"h3"});
  // 700 us, and what the last pause asked for: 65,535 times 512 bits.
  EXPECT_GT(wait.reason.paused, Duration::us(700));
  EXPECT_LT(wait.reason.paused, Duration::us(700 + 336));
  EXPECT_EQ(main_cause(run), "pause tor1:Ethernet8 h3");
}

// A gigabyte a second: a chunk of 512 KiB takes 524 us, and goes on to the next rank then.
TEST(Steps, NameTheRankThatWorksLonger) {
  const Recorded run = recorded(
      "name: c\nrun: {duration: 200ms}\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 4, host_link: "
      "{rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}\nroles: {tor: lossless}\n"
      "collectives: [{name: g, op: reduce, root: 3, protocol: simple, size: 8MiB, reduce_rate: 8Gbps}]\n");
  const StepWait& wait = longest_of(run);
  EXPECT_EQ(wait.reason.cause, WaitCause::kReduce) << run.json;
  EXPECT_EQ(wait.reason.ranks_back, 1U);
  EXPECT_EQ(wait.reason.host, wait.peer_host);
  EXPECT_EQ(wait.reason.time, Duration::ns(524'288));
}

TEST(Steps, NameTheLinkThatLosesPackets) {
  const Recorded run =
      recorded(ring_of_four(", ack_timeout: 5", "faults: [{at: 10us, set: lossy, node: h2, drop: 0.1%}]\n"));
  const control::WaitReason& reason = longest_of(run).reason;
  EXPECT_EQ(reason.cause, WaitCause::kRetransmission) << run.json;
  EXPECT_GT(reason.retransmitted_packets, 0U);
  EXPECT_TRUE(reason.host == "h2" || reason.to_host == "h2") << run.json;
}

// What is sent again belongs to one message.
TEST(Steps, CountWhatWasSentAgainOnce) {
  const Recorded run = recorded(
      "name: c\nrun: {duration: 200ms}\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_link: "
      "{rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}\nroles: {tor: lossless}\n"
      "collectives: [{name: g, op: broadcast, protocol: simple, size: 2MiB, ranks: [h1, h2], ack_timeout: 5}]\n"
      "faults: [{at: 1us, set: lossy, node: h2, drop: 1%}]\n");
  uint64_t of_messages = 0;
  for (const StepWait& wait : job_of(run).ranks.back().longest) of_messages += wait.reason.retransmitted_packets;
  uint64_t of_flows = 0;
  for (const auto& flow : run.snapshot.flows) of_flows += flow.reliable.retransmitted_packets;
  EXPECT_GT(of_messages, 0U) << run.json;
  EXPECT_LE(of_messages, of_flows) << run.json;
}

// Between the racks there is a quarter of the rate.
TEST(Steps, NameTheLinkThatIsSlow) {
  const Recorded run = recorded(ring_of_four("", "", 4, "25Gbps"));
  const control::WaitReason& reason = longest_of(run).reason;
  EXPECT_TRUE(reason.port.starts_with("tor") || reason.congested_port.starts_with("tor")) << run.json;
  EXPECT_NE(reason.cause, WaitCause::kTransfer);
}

TEST(Steps, AreTheSameForAnyNumberOfWorkersAndAnyWindows) {
  const std::string text =
      "name: c\nrun: {duration: 200ms}\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 4, host_link: "
      "{rate: 100Gbps, length: 30m}, fabric_link: {rate: 100Gbps, length: 300m}}\n"
      "roles: {tor: lossless, aggregation: lossless}\n"
      "collectives: [{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 1MiB, channels: 2, qps: 2, "
      "ack_timeout: 2, ranks: [h1, h2, h5, h6]}]\n"
      "workload: [{name: w, pattern: incast, from: [h3, h4, h7], to: h5, message: 256KiB, start: 20us}]\n"
      "faults: [{at: 10us, set: lossy, node: h2, drop: 0.5%}, {at: 60us, node: h6, set: storm, priorities: [3], "
      "until: 100us}]\n";
  std::set<std::string> all;
  for (const uint32_t workers : {1U, 2U, 3U}) all.insert(recorded(text, workers).json);
  all.insert(recorded(text, 1, true).json);
  EXPECT_EQ(all.size(), 1U);
  EXPECT_NE(all.begin()->find("retransmission"), std::string::npos);
}

// What is recorded changes nothing.
TEST(Steps, ChangeNoReport) {
  const std::string text = ring_of_four(", congestion_control: dcqcn_connectx", "", 2);
  const Outcome plain = run_text(text);
  const Recorded run = recorded(text);
  EXPECT_EQ(plain.snapshot.collectives.at(0).ended, run.snapshot.collectives.at(0).ended);
  ASSERT_EQ(plain.snapshot.flows.size(), run.snapshot.flows.size());
  for (size_t i = 0; i < plain.snapshot.flows.size(); ++i)
    EXPECT_EQ(plain.snapshot.flows[i].last_arrived, run.snapshot.flows[i].last_arrived);
}

}  // namespace
}  // namespace softspine::testbeds
