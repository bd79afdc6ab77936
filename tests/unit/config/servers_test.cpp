// SPDX-License-Identifier: Apache-2.0
// Servers whose GPUs are as a topology file of NCCL's has them, and collectives that go by their rails.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "control/load/load.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using dataplane::Rate;
using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

// GPU 0 has the second NIC. 3 NVLinks of 20 GB/s.
const std::string kCrossed =
    "<system version=\"1\"><cpu numaid=\"0\">\n"
    "<pci busid=\"0001\" class=\"0x030200\"><gpu dev=\"1\" sm=\"80\">"
    "<nvlink target=\"5\" count=\"3\" tclass=\"0x068000\"/></gpu></pci>\n"
    "<pci busid=\"0101\" class=\"0x020000\"/></cpu><cpu numaid=\"1\">\n"
    "<pci busid=\"0002\" class=\"0x030200\"><gpu dev=\"0\" sm=\"80\">"
    "<nvlink target=\"5\" count=\"3\" tclass=\"0x068000\"/></gpu></pci>\n"
    "<pci busid=\"0102\" class=\"0x020700\"/></cpu></system>\n";

class Servers : public testing::Test {
 protected:
  Servers() : path_(testing::TempDir() + "servers_test.xml") {}
  ~Servers() override { std::filesystem::remove(path_); }

  // h1 and h3 are one server, h2 and h4 the other.
  std::string text(const std::string& file, const std::string& more, const std::string& of_h3 = "",
                   const std::string& of = "") const {
    std::ofstream(path_) << file;
    return with_fabric("topology:\n  servers: [{file: " + path_ + of +
                       "}]\n  nodes: {h1: {server: a}, h2: {server: b}, h3: {server: a" + of_h3 +
                       "}, h4: {server: b}}\n" + more);
  }

  std::string path_;
};

std::string ranks_of(const Testbed& testbed) {
  std::string out;
  for (const uint32_t node : testbed.collectives.at(0).traffic.hosts) out += testbed.fabric.nodes[node].name;
  return out;
}

const FabricNode& host_named(const Testbed& testbed, const std::string& name) {
  return *std::ranges::find(testbed.fabric.nodes, name, &FabricNode::name);
}

const std::string kAllToAll = "collectives: [{name: g, op: all_to_all, protocol: simple, size: 4MiB, pxn: true}]\n";

TEST_F(Servers, HaveTheirGpusInTheFilesOrderAndTheirNvlinksRate) {
  const Testbed testbed = read_well(text(kCrossed, kAllToAll));
  EXPECT_EQ(ranks_of(testbed), "h3h1h4h2");
  EXPECT_EQ(host_named(testbed, "h2").builtin.scale_up_rate, Rate::gbps(480));
}

TEST_F(Servers, KeepTheRateThatANodeSays) {
  const std::string rates = ", scale_up_rate: 100Gbps";
  const Testbed testbed = read_well(text(kCrossed, "", rates));
  EXPECT_EQ(host_named(testbed, "h3").builtin.scale_up_rate, Rate::gbps(100));
  EXPECT_EQ(host_named(testbed, "h1").builtin.scale_up_rate, Rate::gbps(480));
}

TEST_F(Servers, AreThoseThatAreNamed) {
  const Testbed testbed = read_well(text(kCrossed, kAllToAll, "", ", of: [\"server b\"]"));
  EXPECT_EQ(ranks_of(testbed), "h1h3h4h2");
  EXPECT_EQ(host_named(testbed, "h1").builtin.scale_up_rate, BuiltinHostParameters{}.scale_up_rate);
}

TEST_F(Servers, AreRefusedIfTheyAreOthersThanTheFiles) {
  const std::string one =
      "<system version=\"1\"><cpu><pci busid=\"1\" class=\"0x030200\"/>"
      "<pci busid=\"2\" class=\"0x020700\"/></cpu></system>";
  EXPECT_EQ(complaints_about(text(one, "")),
            (Complaints{"5 topology.servers[0].file: has 1 GPUs and 1 NICs, and server a has 2 NICs here, each with a "
                        "GPU"}));
  const auto refused = parse_testbed(text("<system><cpu><gpu/></cpu></system>", ""), "t.yaml");
  ASSERT_FALSE(refused);
  std::set<std::string> said;
  for (const Error& error : refused.error()) said.insert(to_string(error));
  EXPECT_TRUE(said.contains(path_ + ":1:15: <gpu> is not known in <cpu>")) << *said.begin();
  EXPECT_EQ(said.size(), 2u);
}

std::string with_nics(const std::string& attributes, const std::string& inside) {
  std::string out = "<system version=\"1\"><cpu>\n";
  for (const std::string number : {"0", "1"}) {
    out += "<pci busid=\"a" + number + "\" class=\"0x030200\"/><pci busid=\"b" + number + "\" class=\"0x020000\" " +
           attributes + ">" + inside + "</pci>\n";
  }
  return out + "</cpu></system>\n";
}

std::vector<std::string> warnings_of(const std::string& text) {
  std::vector<std::string> out;
  for (const Error& warning : read_well(text).warnings) out.push_back(warning.path + ": " + warning.message);
  return out;
}

TEST_F(Servers, WarnOnceIfTheFilesNicsAreFasterThanTheLinksOrTheirPcieIsSlower) {
  const std::string where = "topology.servers[0].file: ";
  EXPECT_EQ(warnings_of(text(with_nics("", "<nic><net speed=\"200000\"/></nic>"), "")),
            (Complaints{where + "has a NIC of 200Gbps, and the links of h1 have 100Gbps, which is what counts"}));
  EXPECT_EQ(
      warnings_of(text(with_nics("link_speed=\"8 GT/s\" link_width=\"8\"", ""), "")),
      (Complaints{where + "has a NIC whose PCIe carries 48Gbps, less than the 100Gbps of the links of h1: PCIe is "
                          "not modelled"}));
  EXPECT_EQ(warnings_of(
                text(with_nics("link_speed=\"16 GT/s\" link_width=\"16\"", "<nic><net speed=\"100000\"/></nic>"), "")),
            Complaints{});
}

TEST_F(Servers, OfOneNicAndHostsOutsideAreLeftOut) {
  std::ofstream(path_) << kCrossed;
  const std::string start = "topology:\n  servers: [{file: " + path_ + "}]\n";
  const Testbed testbed =
      read_well(with_fabric(start + "  nodes: {h1: {server: a}, h2: {server: a, namespace: {}}, h3: {server: a}}\n"));
  EXPECT_EQ(host_named(testbed, "h1").builtin.scale_up_rate, Rate::gbps(480));
  EXPECT_EQ(host_named(testbed, "h2").builtin.scale_up_rate, BuiltinHostParameters{}.scale_up_rate);
  EXPECT_EQ(complaints_about(with_fabric(start)),
            (Complaints{"5 topology.servers[0]: there is no server with several NICs"}));
}

// h1 to h4 and h3 to h2 cross rails: they go by h3 and h1.
TEST_F(Servers, SendByTheGpuOnTheReceiversRail) {
  const Testbed testbed = read_well(text(kCrossed, kAllToAll));
  const CollectiveRun& run = testbed.collectives.at(0);
  EXPECT_TRUE(run.shapes.at(0).pxn);
  const Workload& crossing = testbed.workloads[run.traffic.workload];
  std::set<std::string> pairs;
  for (size_t i = 0; i < crossing.from.size(); ++i)
    pairs.insert(testbed.fabric.nodes[crossing.from[i]].name + testbed.fabric.nodes[crossing.to[i]].name);
  EXPECT_EQ(pairs, (std::set<std::string>{"h1h2", "h2h1", "h3h4", "h4h3"}));
}

TEST(Pxn, NeedsServersOfSeveralGpusAndTheDirectAlgorithm) {
  const std::string needs = " collectives[0].pxn: is for 'direct' between servers of several GPUs, as many in each";
  EXPECT_EQ(complaints_about(with_fabric("collectives:\n  - {name: g, pxn: true, op: all_to_all, size: 1MiB}\n")),
            (Complaints{"5" + needs}));
  const std::string servers =
      "topology: {nodes: {h1: {server: a}, h2: {server: a}, h3: {server: b}, h4: {server: b}}}\n";
  EXPECT_EQ(complaints_about(with_fabric(servers + "collectives:\n  - {name: g, pxn: true, op: all_reduce, algorithm: "
                                                   "ring, size: 1MiB}\n")),
            (Complaints{"6" + needs}));
  const std::string one = "topology: {nodes: {h1: {server: a}, h2: {server: a}, h3: {server: a}, h4: {server: a}}}\n";
  EXPECT_EQ(complaints_about(with_fabric(one + "collectives:\n  - {name: g, pxn: true, op: all_to_all, size: 1MiB}\n")),
            (Complaints{"6" + needs}));
  EXPECT_EQ(complaints_about(with_fabric(servers +
                                         "training:\n  - {name: t, pxn: true, layers: [{name: l, weight_gradient: {op: "
                                         "all_reduce, size: 1MiB}}]}\n")),
            (Complaints{"6 training[0].pxn" + needs.substr(needs.find(':'))}));
}

TEST(Paths, AreForConnectionsOfRanks) {
  EXPECT_EQ(
      complaints_about(with_fabric("workload: [{name: w, pattern: ring, scaling: least_outstanding}]\n")),
      (Complaints{"4 workload[0].scaling: must be each, split or round_robin: least_outstanding is of collectives"}));
  const Testbed testbed = read_well(with_fabric(
      "collectives: [{name: g, op: all_reduce, size: 1MiB, qps: 4, scaling: least_outstanding, ports: disjoint}]\n"));
  const Workload& data = testbed.workloads.at(0);
  EXPECT_EQ(data.ports, PortChoice::kDisjoint);
  EXPECT_EQ(data.qps, 4u);
  EXPECT_EQ(data.transport.verb, Verb::kSend);
  EXPECT_TRUE(data.has_immediates);
  const Workload& clears = testbed.workloads.at(1);
  EXPECT_EQ(clears.ports, PortChoice::kPerQp);
  EXPECT_EQ(clears.qps, 1u);
  EXPECT_EQ(clears.transport.verb, Verb::kWrite);
  EXPECT_FALSE(clears.has_immediates);
}

}  // namespace
}  // namespace softspine::control
