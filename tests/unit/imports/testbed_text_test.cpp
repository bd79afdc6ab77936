// SPDX-License-Identifier: Apache-2.0
// What an imported topology is written as: its name, its nodes, and the traffic that it is given.
#include "control/imports/testbed_text.hpp"

#include <fmt/format.h>

#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string written(const std::vector<ImportFile>& files, ImportFormat format = ImportFormat::kHpcc) {
  const Imported read = import_files(format, files);
  if (!read.topology) {
    ADD_FAILURE() << read.complaints.front();
    return {};
  }
  const std::string text = testbed_text(*read.topology, format, files);
  const auto testbed = parse_testbed(text, "imported.yaml");
  EXPECT_TRUE(testbed) << to_string(testbed.error().front()) << text;
  return text;
}

// Hosts 0 and 1 at a switch, each by a link of its rate.
std::string pair_of(const std::string& first, const std::string& second) {
  return fmt::format("3 1 2\n2\n0 2 {} 1us 0\n1 2 {} 1us 0\n", first, second);
}

TEST(TestbedText, IsNamedAfterTheFileIfItsNameCanBeOne) {
  const std::string text = pair_of("100Gbps", "100Gbps");
  for (const auto& [file, name] : {std::pair{"fat.txt", "fat"},
                                   {"/labs/two racks/fat-tree_k4.clab.yml", "fat-tree_k4"},
                                   {"my fat tree.txt", "my-fat-tree"},
                                   {"4.txt", "4"},
                                   {".txt", "imported"},
                                   {"(1).txt", "imported"},
                                   {"null.txt", "imported"},
                                   {"nullary.txt", "nullary"}}) {
    EXPECT_THAT(written({{file, text}}), HasSubstr(fmt::format("\nname: {}\n", name))) << file;
  }
}

TEST(TestbedText, SaysHowMuchItHasAndWhereFrom) {
  const std::string text = written({{"labs/fat.txt", pair_of("100Gbps", "100Gbps")}});
  EXPECT_THAT(text, StartsWith("# From HPCC's ns-3 topology 'fat.txt': 2 hosts, 1 switches, 2 links.\n"));
  EXPECT_THAT(text, HasSubstr("\n    h0: {kind: host}  # node 0\n"));
  EXPECT_THAT(text, HasSubstr("\n    tor2: {kind: switch, role: tor}  # node 2\n"));
  EXPECT_THAT(text,
              HasSubstr("{endpoints: [\"h1:eth0\", \"tor2:Ethernet4\"], rate: 100Gbps, length: 198m}  # line 4\n"))
      << "1 us of light in fibre";
  EXPECT_THAT(text, Not(HasSubstr("faults:")));
}

// 4,096 bytes are RoCE's largest; a host's link of 10 Gb/s is the slowest of a host's.
TEST(TestbedText, HasTrafficOfAQuarterOfTheSlowestHostsLink) {
  const auto rate = [](const std::string& first, const std::string& second) {
    const std::string text = written({{"t.txt", pair_of(first, second)}});
    const size_t at = text.find("mtu: 4096, rate: ");
    return at == std::string::npos ? text : text.substr(at + 17, text.find('}', at) - at - 17);
  };
  EXPECT_EQ(rate("100Gbps", "100Gbps"), "25Gbps");
  EXPECT_EQ(rate("10Gbps", "100Gbps"), "2.5Gbps");
  EXPECT_EQ(rate("100Gbps", "10Gbps"), "2.5Gbps");
  EXPECT_EQ(rate("2Mbps", "100Gbps"), "1Mbps") << "no flow is slower";
}

// The link between the ToRs is slower, and takes no part.
TEST(TestbedText, HasTrafficByTheLinksOfHostsWhicheverEndTheyAre) {
  EXPECT_THAT(written({{"t.txt", "4 2 3\n2 3\n2 0 40Gbps 1us 0\n3 1 80Gbps 1us 0\n2 3 4Gbps 1us 0\n"}}),
              HasSubstr("pattern: permutation, message: 64KiB, messages: 4, mtu: 4096, rate: 10Gbps}\n"));
}

TEST(TestbedText, HasNoTrafficWhereHostsDoNotMeet) {
  EXPECT_THAT(written({{"t.txt", "3 2 2\n1 2\n0 1 1Gbps 1us 0\n1 2 1Gbps 1us 0\n"}}),
              HasSubstr("# No workload: traffic needs two hosts.\n"));
  EXPECT_THAT(written({{"t.txt", "6 2 4\n4 5\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n"}}),
              HasSubstr("# No workload: not every host reaches every other.\n"));
}

TEST(TestbedText, HasAFaultOfEachLinkThatDamages) {
  const std::string text =
      written({{"t.txt", "4 1 3\n3\n0 3 1Gbps 1us 0.5\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0.000001\n"}});
  EXPECT_THAT(text, HasSubstr("\nfaults:\n  - {at: 0ps, link: \"h0:eth0\", set: lossy, corrupt: 50%}  # line 3\n"
                              "  - {at: 0ps, link: \"h2:eth0\", set: lossy, corrupt: 0.0001%}  # line 5\n"));
}

// YAML takes three spellings of it for no value; a node of another is a node.
TEST(TestbedText, QuotesWhatYamlTakesForNothing) {
  const std::string topology = R"(
topology:
  nodes: {s: {kind: sonic-vs}, "null": {kind: linux}, "Null": {kind: linux}, "NULL": {kind: linux}, nULL: {kind: linux}}
  links:
    - endpoints: [s:eth1, "null:eth1"]
    - endpoints: [s:eth2, "Null:eth1"]
    - endpoints: [s:eth3, "NULL:eth1"]
    - endpoints: [s:eth4, nULL:eth1]
)";
  const std::string text = written({{"t.txt", topology}}, ImportFormat::kContainerlab);
  for (const char* name : {"\"null\"", "\"Null\"", "\"NULL\"", "nULL"})
    EXPECT_THAT(text, HasSubstr(fmt::format("\n    {}: {{kind: host}}", name)));
}

TEST(TestbedText, NamesTheFileOfEachLineWhereThereAreSeveral) {
  const auto device = [](const char* own, const char* type, const char* other) {
    return fmt::format(R"({{"DEVICE_METADATA": {{"localhost": {{"hostname": "{}", "type": "{}"}}}},
 "DEVICE_NEIGHBOR": {{"Ethernet0": {{"name": "{}", "port": "Ethernet0"}}}}}})",
                       own, type, other);
  };
  const std::string text = written(
      sonic_files({device("tor1", "ToRRouter", "leaf1"), device("leaf1", "LeafRouter", "tor1")}), ImportFormat::kSonic);
  EXPECT_THAT(text, HasSubstr("tor1: {kind: switch, role: tor}  # 'a.json' line 1, 'ToRRouter'\n"));
  EXPECT_THAT(text, HasSubstr("leaf1: {kind: switch, role: aggregation}  # 'b.json' line 1, 'LeafRouter'\n"));
  EXPECT_THAT(text, HasSubstr("length: 3m}  # 'a.json' line 2\n"));
}

}  // namespace
}  // namespace softspine::control
