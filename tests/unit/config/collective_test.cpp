// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "control/collectives/choice.hpp"
#include "control/traffic/flow.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

std::string with_collective(const std::string& keys) {
  return with_fabric("collectives:\n  - {name: g, " + keys + "}\n");
}

TEST(Collectives, TakeAllBuiltInHostsAsRanksIfNoneAreNamed) {
  const Testbed testbed = read_well(with_collective("op: all_reduce, algorithm: ring, size: [1MiB, 2MiB]"));
  const CollectiveRun& run = testbed.collectives.at(0);
  EXPECT_EQ(run.traffic.hosts.size(), 4u);
  ASSERT_EQ(run.shapes.size(), 2u);
  EXPECT_EQ(run.shapes[1].bytes, 2u << 20);
  EXPECT_EQ(run.shapes[1].ranks, 4u);
}

// The connections are a workload of their own, behind all others.
TEST(Collectives, AreAWorkloadWhoseFlowsArePosted) {
  const Testbed testbed =
      read_well(with_fabric("workload: [{name: w, pattern: ring}]\n"
                            "collectives: [{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 4MiB, "
                            "ranks: [h3, h1, h4], iterations: 5}]\n"));
  ASSERT_EQ(testbed.workloads.size(), 3u) << "and that of clear-to-sends";
  const Workload& connections = testbed.workloads[1];
  EXPECT_EQ(connections.name, "g");
  EXPECT_EQ(connections.transport.kind, TransportKind::kReliable);
  std::vector<std::string> names;
  for (size_t i = 0; i < connections.from.size(); ++i) {
    names.push_back(testbed.fabric.nodes[connections.from[i]].name + testbed.fabric.nodes[connections.to[i]].name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"h3h1", "h1h4", "h4h3"}));
  // 2 (3 - 1) steps of two messages, five times.
  EXPECT_EQ(connections.posted, (std::vector<uint64_t>(3, 2 * 2 * 2 * 5)));
  EXPECT_EQ(testbed.collectives.at(0).traffic.workload, 1u);
  const Workload& clears = testbed.workloads[testbed.collectives.at(0).traffic.clears.value()];
  EXPECT_EQ(clears.name, "g-cts");
  EXPECT_EQ(clears.from, connections.to);
  EXPECT_EQ(clears.to, connections.from);
  EXPECT_EQ(clears.posted, connections.posted);
}

TEST(Collectives, HaveEitherNcclsChoiceOrWhatIsNamed) {
  const Testbed testbed = read_well(with_collective("op: all_reduce, size: [8B, 1GiB]"));
  const auto& shapes = testbed.collectives.at(0).shapes;
  EXPECT_EQ(shapes[0].protocol, CollectiveProtocol::kLl);
  EXPECT_EQ(shapes[1].protocol, CollectiveProtocol::kSimple);
  for (const CollectiveShape& shape : shapes) EXPECT_NE(shape.algorithm, CollectiveAlgorithm::kAuto);
}

TEST(Collectives, AreRefusedWithPlaceAndReason) {
  const auto of = [](const std::string& keys) { return complaints_about(with_collective(keys)); };
  const std::string where = "5 collectives[0]";
  EXPECT_EQ(of("op: all_to_all, algorithm: ring, size: 1MiB"),
            (Complaints{where + ".algorithm: all_to_all is direct, not 'ring'"}));
  EXPECT_EQ(of("op: all_reduce, size: [1MiB, 0B]"), (Complaints{where + ".size[1]: must be 1B to 16GiB"}));
  EXPECT_EQ(of("op: all_reduce, size: [1MiB, 2MiB, 1MiB]"),
            (Complaints{where + ".size[2]: stands here twice: 'iterations' repeats a size"}));
  EXPECT_EQ(of("op: all_reduce, algorithm: halving_doubling, size: 8GiB"),
            (Complaints{where +
                        ".size: makes messages of 4294967296 bytes, and a queue pair sends 2GiB at most: more channels "
                        "make them smaller"}));
  EXPECT_EQ(of("op: broadcast, root: 4, size: 1MiB"), (Complaints{where + ".root: is no rank: there are 4, from 0"}));
  EXPECT_EQ(of("op: all_reduce, root: 0, size: 1MiB"), (Complaints{where + ".root: is for broadcast and reduce"}));
  EXPECT_EQ(of("op: all_reduce, size: 1MiB, ranks: [h1]"),
            (Complaints{where + ".ranks: needs two built-in hosts, has 1"}));
  EXPECT_EQ(of("op: all_reduce, size: 1MiB, ranks: [h1, h2, h1]"),
            (Complaints{where + ".ranks: h1 stands here twice"}));
  EXPECT_EQ(of("op: all_reduce, size: 1MiB, scaling: each"),
            (Complaints{where + ".scaling: must be split, round_robin or least_outstanding: a message is sent once"}));
  EXPECT_EQ(of("op: all_reduce, size: 1MiB, admission: open, clear_dscp: 3"),
            (Complaints{where + ".clear_dscp: needs 'admission: receiver'"}));
}

TEST(Collectives, MayShareHosts) {
  const Testbed testbed =
      read_well(with_fabric("collectives:\n  - {name: a, op: all_reduce, size: 1MiB, ranks: [h1, h2]}\n"
                            "  - {name: b, op: all_reduce, size: 1MiB, ranks: [h3, h2]}\n"));
  EXPECT_EQ(testbed.collectives.at(0).traffic.hosts[1], testbed.collectives.at(1).traffic.hosts[1]);
}

std::string two_servers(const std::string& more) {
  return "topology: {nodes: {h1: {server: a}, h2: {server: b}, h3: {server: a" + more + "}, h4: {server: b}}}\n";
}

// h1 and h3 are one server, h2 and h4 the other.
TEST(Collectives, PutTheRanksOfAServerTogetherAndTheirMessagesBesideTheFabric) {
  const Testbed testbed = read_well(
      with_fabric(two_servers("") + "collectives: [{name: g, op: all_reduce, algorithm: ring, protocol: simple, "
                                    "size: 4MiB, channels: 2, ranks: [h4, h1, h2, h3]}]\n"));
  const CollectiveRun& run = testbed.collectives.at(0);
  std::string order;
  for (const uint32_t node : run.traffic.hosts) order += testbed.fabric.nodes[node].name;
  EXPECT_EQ(order, "h4h2h1h3");
  EXPECT_EQ(run.shapes[0].per_server, 2u);
  // Each channel crosses once from either server, and stays on its rail.
  const Workload& crossing = testbed.workloads[run.traffic.workload];
  ASSERT_EQ(crossing.from.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NE(run.traffic.from_rank[i] / 2, run.traffic.to_rank[i] / 2);
    EXPECT_EQ(run.traffic.from_rank[i] % 2, run.traffic.to_rank[i] % 2);
  }
  EXPECT_EQ(run.traffic.scale_up.size(), 4u);
}

TEST(Collectives, OfServersWithUnlikeNumbersOfRanksGoByRanks) {
  const Testbed testbed = read_well(
      with_fabric(two_servers("") + "collectives: [{name: g, op: all_reduce, size: 4MiB, ranks: [h1, h3, h4]}]\n"));
  EXPECT_EQ(testbed.collectives.at(0).shapes[0].per_server, 1u);
  EXPECT_FALSE(testbed.collectives.at(0).traffic.scale_up.empty());
}

TEST(Collectives, OfAServerAndTwoHostsGoByRanks) {
  const Testbed testbed =
      read_well(with_fabric("topology: {nodes: {h1: {server: a}, h3: {server: a}}}\n"
                            "collectives: [{name: g, op: all_reduce, size: 4MiB}]\n"));
  EXPECT_EQ(testbed.collectives.at(0).shapes[0].per_server, 1u);
}

// NCCL's choice knows all NICs of a server, and in one server its scale-up links.
void expect_choices(const std::string& ranks, const NcclCluster& cluster, const NcclCluster& wrong) {
  std::string sizes;
  for (uint32_t power = 10; power < 30; ++power) sizes += (power > 10 ? ", " : "") + std::to_string(1U << power) + "B";
  const Testbed testbed = read_well(with_fabric(two_servers("") + "collectives: [{name: g, op: all_reduce, size: [" +
                                                sizes + "], channels: 2, ranks: " + ranks + "}]\n"));
  uint32_t different = 0;
  for (CollectiveShape shape : testbed.collectives.at(0).shapes) {
    const auto found = std::pair(shape.algorithm, shape.protocol);
    shape.algorithm = CollectiveAlgorithm::kAuto;
    shape.protocol = CollectiveProtocol::kAuto;
    const auto of = [&](const NcclCluster& each) {
      const CollectiveShape chosen = choose(shape, each);
      return std::pair(chosen.algorithm, chosen.protocol);
    };
    EXPECT_EQ(found, of(cluster)) << shape.bytes;
    different += of(cluster) != of(wrong) ? 1 : 0;
  }
  EXPECT_GT(different, 0u);
}

TEST(Collectives, AreChosenByTheLinksOfAServersGpusTogether) {
  expect_choices("[h1, h3, h2, h4]", {.servers = 2, .channels = 2, .channel_gbytes = 12.5},
                 {.servers = 2, .channels = 2, .channel_gbytes = 6.25});
  expect_choices("[h1, h3]", {.servers = 1, .channels = 2, .channel_gbytes = 225},
                 {.servers = 1, .channels = 2, .channel_gbytes = 12.5});
}

TEST(Collectives, OfOneServerHaveNoFlows) {
  const Testbed testbed = read_well(
      with_fabric(two_servers("") + "collectives: [{name: g, op: all_reduce, size: 4MiB, ranks: [h1, h3]}]\n"));
  const CollectiveRun& run = testbed.collectives.at(0);
  EXPECT_TRUE(run.traffic.channel.empty());
  EXPECT_TRUE(testbed.workloads[run.traffic.workload].from.empty());
  EXPECT_EQ(testbed.workloads[run.traffic.workload].message_bytes, kMaxMessageBytes)
      << "messages beside the fabric are not its";
}

TEST(Collectives, NeedOneScaleUpLinkInAServer) {
  EXPECT_EQ(complaints_about(with_fabric(two_servers(", scale_up_rate: 400Gbps") +
                                         "collectives: [{name: g, op: all_reduce, size: 4MiB}]\n")),
            (Complaints{"5 collectives[0].name: h3 and h1 are in one server, and differ in 'scale_up_rate' or "
                        "'scale_up_latency'"}));
}

TEST(Collectives, HaveANameThatNoWorkloadHas) {
  EXPECT_EQ(complaints_about(with_fabric("workload: [{name: g, pattern: ring}]\n"
                                         "collectives: [{name: g, op: all_reduce, size: 1MiB}]\n")),
            (Complaints{"5 collectives[0].name: a workload 'g' stands here already"}));
}

}  // namespace
}  // namespace softspine::control
