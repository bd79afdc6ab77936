// SPDX-License-Identifier: Apache-2.0
// The paths of a collective's messages: source ports whose paths are disjoint, queue pairs by bytes outstanding, and
// the GPU on the receiver's rail (PXN).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/explain/probe.hpp"
#include "analysis/explain/walker.hpp"
#include "testbeds/run/traffic.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

std::string leaves(uint32_t spines, uint32_t hosts_per_tor, const std::string& collectives) {
  return fmt::format(
      "name: c\nrun: {{duration: 200ms}}\nfabric: {{kind: leaf-spine, tors: 2, spines: {}, hosts_per_tor: {}, "
      "host_link: {{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: 100Gbps, length: 3m}}}}\n"
      "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: 7}}}}}}\ncollectives:\n{}",
      spines, hosts_per_tor, collectives);
}

// Walked here, one queue pair after the other.
std::set<uint32_t> spines_of(const control::Testbed& testbed, std::span<const PlannedFlow> flows) {
  analysis::Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  std::set<uint32_t> out;
  for (const PlannedFlow& flow : flows) {
    const analysis::Probe probe{.from = flow.source,
                                .to = flow.destination,
                                .source_port = flow.flow.source_port,
                                .qp = flow.flow.destination_qp};
    const auto frame =
        frame_of(testbed.fabric, probe, walker.router_mac(testbed.fabric.peer_of({flow.source, 0}).node));
    out.insert(walker.walk(frame, static_cast<uint32_t>(frame.size()), {flow.source, 0}).hops.at(1).node);
  }
  return out;
}

TEST(CollectivePaths, AreDisjointWhereThereAreAsManyAsQueuePairs) {
  const std::string text =
      "  - {{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 4MiB, channels: 2, qps: 4, ports: "
      "{}}}\n";
  for (const char* const ports : {"per_qp", "disjoint"}) {
    const control::Testbed testbed = testbed_of(leaves(4, 2, fmt::format(fmt::runtime(text), ports)));
    std::vector<SharedPaths> shared;
    const std::vector<PlannedFlow> plan = plan_traffic(testbed, &shared);
    size_t fewest = 4;
    for (size_t i = 0; i < plan.size() && plan[i].workload == 0; i += 4) {
      if (testbed.fabric.peer_of({plan[i].source, 0}).node == testbed.fabric.peer_of({plan[i].destination, 0}).node)
        continue;
      fewest = std::min(fewest, spines_of(testbed, std::span(plan).subspan(i, 4)).size());
    }
    if (std::string{ports} == "per_qp") {
      EXPECT_LT(fewest, 4u);
      EXPECT_TRUE(shared.empty());
      continue;
    }
    EXPECT_EQ(fewest, 4u);
    ASSERT_EQ(shared.size(), 1u);
    EXPECT_EQ(shared[0].connections, 0u);
    EXPECT_EQ(shared[0].of, 8u);
  }
}

// Two ports, each with two ways: a host's own choice of a port is a part of its paths.
TEST(CollectivePaths, OfBondedHostsGoByBothPorts) {
  const control::Testbed testbed = testbed_of(
      "name: c\nfabric: {kind: hpn, segments: 2, servers_per_segment: 1, rails: 1, aggregations_per_plane: 2, "
      "host_link: {rate: 50Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}\n"
      "profiles: {default: {base: lossless, hash: {algorithm: XXH3, seed: 2}}}\n"
      "collectives:\n  - {name: g, op: send_recv, size: 4MiB, qps: 4, ports: disjoint}\n");
  std::vector<SharedPaths> shared;
  plan_traffic(testbed, &shared);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].connections, 0u);
}

// Three spines for four queue pairs: all three are used, and it is said. The last one keeps the kernel's port, since no
// other is better.
TEST(CollectivePaths, TakeWhatThereIsWhereThereAreFewer) {
  const std::string text = "  - {name: g, op: send_recv, size: 4MiB, qps: 4";
  const control::Testbed testbed = testbed_of(leaves(3, 1, text + ", ports: disjoint}\n"));
  const std::vector<PlannedFlow> kernels = plan_traffic(testbed_of(leaves(3, 1, text + "}\n")));
  std::vector<SharedPaths> shared;
  const std::vector<PlannedFlow> plan = plan_traffic(testbed, &shared);
  EXPECT_EQ(spines_of(testbed, std::span(plan).subspan(0, 4)).size(), 3u);
  EXPECT_EQ(plan[3].flow.source_port, kernels[3].flow.source_port);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].connections, 2u);
  EXPECT_EQ(shared[0].of, 2u);
}

class Spread : public testing::TestWithParam<const char*> {};

TEST_P(Spread, MovesTheSameBytesForAnyNumberOfWorkers) {
  std::set<std::string> reports;
  for (const uint32_t workers : {1u, 2u, 3u}) {
    const Outcome out = run_text(
        leaves(4, 3,
               fmt::format("  - {{name: g, {}, qps: 4, scaling: least_outstanding, ports: disjoint}}\n", GetParam())),
        {.workers = workers});
    const Json& ranks = out.report["collectives"]["g"];
    EXPECT_EQ(ranks["ranks_done"], 6);
    EXPECT_EQ(number(ranks, "messages_unclaimed"), 0u);
    EXPECT_EQ(number(ranks, "messages_received"), number(out.report["flows"]["g"], "received_messages"));
    EXPECT_EQ(number(ranks, "received_bytes"), number(out.report["flows"]["g"], "received_bytes"));
    reports.insert(without_engine(out.report));
  }
  EXPECT_EQ(reports.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Operations, Spread,
                         testing::Values("op: all_reduce, algorithm: ring, size: 6MiB, channels: 2",
                                         "op: all_reduce, algorithm: tree, size: 3MiB, admission: open",
                                         "op: all_to_all, size: 3MiB", "op: send_recv, size: 5MiB, post_cost: 1us",
                                         "op: all_reduce, size: [1B, 5B, 4097B]"));

// A spine's cables are slow. In turns its queue pair carries a quarter and decides; by bytes outstanding it gets less.
// Eight messages are under way at most, in order, so the slow path holds up the others all the same.
TEST(CollectivePaths, ByBytesOutstandingAvoidTheSlowOne) {
  const auto seconds = [&](const char* scaling) {
    std::string text = leaves(3, 1,
                              fmt::format("  - {{name: g, op: send_recv, protocol: simple, size: 64MiB, qps: 4, ports: "
                                          "disjoint, scaling: {}}}\n",
                                          scaling));
    text +=
        "topology: {nodes: {slow: {kind: switch, role: aggregation}}, links: [{endpoints: [tor1, slow], rate: 10Gbps, "
        "length: 3m}, {endpoints: [tor2, slow], rate: 10Gbps, length: 3m}]}\n";
    const Outcome out = run_text(text);
    EXPECT_EQ(out.report["collectives"]["g"]["ranks_done"], 2);
    return static_cast<double>(number(out.report["collectives"]["g"]["sizes"]["67108864"], "time_ps")) / 1e12;
  };
  const double turns = seconds("round_robin");
  const double least = seconds("least_outstanding");
  EXPECT_GT(turns, (64 << 20) / 4 * 8 / 10e9);
  EXPECT_LT(least, turns / 1.3);
}

}  // namespace
}  // namespace softspine::testbeds
