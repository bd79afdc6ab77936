// SPDX-License-Identifier: Apache-2.0
// Topology files of HPCC's ns-3 and of SimAI.
#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

// Two racks of two hosts (0 … 3), ToRs 4 and 5, a spine 6.
constexpr const char* kTwoRacks =
    "7 3 6\n"
    "4 5 6\n"
    "0 4 100Gbps 1000ns 0\n"
    "1 4 100Gbps 1000ns 0\n"
    "2 5 100Gb/s 0.001ms 0\n"
    "3 5 100Gbps 1us 0.000000\n"
    "4 6 400Gbps 2us 0\n"
    "5 6 400Gbps 2us 0\n";

TEST(Ns3Topology, GivesHostsAndRolesByDistance) {
  const Imported read = import_text(ImportFormat::kHpcc, kTwoRacks);
  ASSERT_TRUE(read.topology) << read.complaints[0];
  EXPECT_THAT(names_by_use(*read.topology),
              ElementsAre(Pair("aggregation", "agg6"), Pair("host", "h0 h1 h2 h3"), Pair("tor", "tor4 tor5")));
  EXPECT_THAT(links_of(*read.topology),
              ElementsAre("h0:eth0 tor4:Ethernet0 100Gbps", "h1:eth0 tor4:Ethernet4 100Gbps",
                          "h2:eth0 tor5:Ethernet0 100Gbps", "h3:eth0 tor5:Ethernet4 100Gbps",
                          "tor4:Ethernet8 agg6:Ethernet0 400Gbps", "tor5:Ethernet8 agg6:Ethernet4 400Gbps"));
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(Ns3Topology, HasTheDelayOfTheFileToThePicosecond) {
  const std::vector<ImportFile> files{{"t.txt", "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 25Gbps 1234.567ns 0\n"}};
  const Testbed testbed = testbed_of(import_files(ImportFormat::kHpcc, files), ImportFormat::kHpcc, files);
  ASSERT_EQ(testbed.fabric.links.size(), 2u);
  EXPECT_EQ(testbed.fabric.links[0].propagation, dataplane::Duration::ns(1'000));
  EXPECT_EQ(testbed.fabric.links[1].propagation, dataplane::Duration::ps(1'234'567));
}

TEST(Ns3Topology, MakesAFaultOfAnErrorRate) {
  const std::vector<ImportFile> files{{"t.txt", "3 1 2\n2\n0 2 100Gbps 1us 0.00025\n1 2 100Gbps 1us 1e-9\n"}};
  const Imported read = import_files(ImportFormat::kHpcc, files);
  const Testbed testbed = testbed_of(read, ImportFormat::kHpcc, files);
  ASSERT_EQ(testbed.port_faults.size(), 1u);
  EXPECT_EQ(testbed.port_faults[0].damaged_millionths, 250u);
  EXPECT_EQ(testbed.port_faults[0].ports.size(), 2u);
  EXPECT_THAT(read.notes, ElementsAre("t.txt:4:17: the error rate '1e-9' is taken as 0 in a million"));
}

TEST(Ns3Topology, DoesNotReadWhatFollowsTheDeclaredLinks) {
  const Imported read = import_text(ImportFormat::kHpcc, "2 1 1\n1\n0 1 1Gbps 1us 0\n0 9 1Gbps 1us 0\nsrc dst\n");
  ASSERT_TRUE(read.topology);
  EXPECT_THAT(read.notes,
              ElementsAre("t.txt:4:1: 2 lines stand after the declared 1 links: not read, as ns-3 does not"));
}

TEST(Ns3Topology, RulesDecideWhatANodeIs) {
  ImportOptions options{.rules = {{"6", NodeUse::kCore}, {"5", NodeUse::kTor}, {"0", NodeUse::kNothing}}};
  const Imported read = import_text(ImportFormat::kHpcc, kTwoRacks, options);
  ASSERT_TRUE(read.topology);
  EXPECT_THAT(names_by_use(*read.topology),
              ElementsAre(Pair("core", "core6"), Pair("host", "h1 h2 h3"), Pair("tor", "tor4 tor5")));
  EXPECT_EQ(read.topology->nodes_left_out, 1u);
  EXPECT_EQ(read.topology->links_left_out, 1u);
  options.rules.push_back({"x*", NodeUse::kHost});
  EXPECT_THAT(import_text(ImportFormat::kHpcc, kTwoRacks, options).complaints,
              ElementsAre(HasSubstr("no node has the name or kind 'x*'")));
}

TEST(Ns3Topology, NvSwitchesBecomeTheServersOfTheirGpus) {
  // Four GPUs, two to a server; NVSwitches 4 and 5, switch 6.
  const std::string text =
      "7 2 2 1 8 H100\n4 5 6\n"
      "0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
      "2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n"
      "0 6 400Gbps 0.0005ms 0\n1 6 400Gbps 0.0005ms 0\n"
      "2 6 400Gbps 0.0005ms 0\n3 6 400Gbps 0.0005ms 0\n";
  const Imported read = import_text(ImportFormat::kSimai, text);
  ASSERT_TRUE(read.topology) << read.complaints[0];
  std::vector<std::string> servers;
  for (const ForeignNode& node : read.topology->nodes) servers.push_back(node.name + "@" + node.server);
  EXPECT_THAT(servers, ElementsAre("h0@server0", "h1@server0", "h2@server1", "h3@server1", "tor6@"));
  EXPECT_EQ(read.topology->nodes_left_out, 2u);
  EXPECT_EQ(read.topology->links_left_out, 4u);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("t.txt:3:1: 2 NVSwitches and their 4 links are inside servers")));
  const Testbed written = testbed_of(read, ImportFormat::kSimai, {{"t.txt", text}});
  std::vector<std::string> again;
  for (const FabricNode& node : written.fabric.nodes) again.push_back(node.name + "@" + node.server);
  EXPECT_THAT(again, testing::UnorderedElementsAreArray(servers));
}

// SimAI's with GPUs per node, others' with ToRs between switches and links.
TEST(Ns3Topology, FirstLinesMayHaveAFieldMore) {
  constexpr const char* kSeven =
      "6 2 0 2 5 X000 2\n4 5\n0 4 200Gbps 0.0005ms 0\n1 4 200Gbps 0.0005ms 0\n2 5 200Gbps 0.0005ms 0\n"
      "3 5 200Gbps 0.0005ms 0\n4 5 400Gbps 0.0005ms 0\n";
  const Imported simai = import_text(ImportFormat::kSimai, kSeven);
  ASSERT_TRUE(simai.topology) << simai.complaints[0];
  EXPECT_THAT(names_by_use(*simai.topology), ElementsAre(Pair("host", "h0 h1 h2 h3"), Pair("tor", "tor4 tor5")));
  EXPECT_THAT(simai.notes, IsEmpty());
  std::string other(kSeven);
  other.replace(other.find("X000 2"), 6, "X000 4");
  EXPECT_THAT(import_text(ImportFormat::kSimai, other).notes, ElementsAre(HasSubstr("t.txt:1:16: a node of 4 GPUs")));
  std::string four(kTwoRacks);
  four.replace(0, 5, "7 3 2 6");
  const Imported tors = import_text(ImportFormat::kHpcc, four);
  ASSERT_TRUE(tors.topology) << tors.complaints[0];
  EXPECT_THAT(links_of(*tors.topology), links_of(*import_text(ImportFormat::kHpcc, kTwoRacks).topology));
  EXPECT_THAT(tors.notes, ElementsAre(HasSubstr("t.txt:1:5: the number of ToRs is not read")));
}

// hpcc's has 3 or 4 fields, simai's 6 or 7: who has the other's number is asked.
TEST(Ns3Topology, AFirstLineOfAnotherLengthIsRefusedAndMayBeTheOtherFormats) {
  for (const bool simai : {false, true}) {
    std::string line;
    for (size_t fields = 1; fields <= 9; ++fields) {
      line += (fields == 1 ? "" : " ") + std::string("1");
      const bool of_hpcc = fields == 3 || fields == 4;
      const bool of_simai = fields == 6 || fields == 7;
      if (simai ? of_simai : of_hpcc) continue;
      const std::string hint = simai      ? (of_hpcc ? ": is the format hpcc?" : "")
                               : of_simai ? ": is the format simai?"
                                          : "";
      EXPECT_THAT(import_text(simai ? ImportFormat::kSimai : ImportFormat::kHpcc, line + "\n").complaints,
                  ElementsAre("t.txt:1:1: the first line must have " + std::string(simai ? "6 or 7" : "3 or 4") +
                              " fields, not " + std::to_string(fields) + hint));
    }
  }
}

// ns-3's DataRate and Time: bits and seconds where no unit stands; a capital B is bytes.
TEST(Ns3Topology, RatesAndDelaysMayHaveNoUnit) {
  for (const auto& [rate, bps] : {std::pair{"25000000000", uint64_t{25'000'000'000}},
                                  {"2.5e10bps", 25'000'000'000},
                                  {"25000Mb/s", 25'000'000'000},
                                  {"3.125GBps", 25'000'000'000},
                                  {"1000000kbps", 1'000'000'000},
                                  {"1000Kib/s", 1'024'000},
                                  {"1MB/s", 8'000'000},
                                  {"0.4Tbps", 400'000'000'000}}) {
    const Imported read = import_text(ImportFormat::kHpcc, "2 1 1\n1\n0 1 " + std::string(rate) + " 0.000001 0\n");
    ASSERT_TRUE(read.topology) << read.complaints[0];
    EXPECT_EQ(read.topology->links.at(0).rate.count_bps(), bps) << rate;
    EXPECT_EQ(read.topology->links.at(0).length.micrometres, 198'000'000U) << "1 us";
  }
  for (const char* rate : {"100GB", "100Xbps", "Gbps", "-1Gbps", "1.5bps", "", "nan", "inf", "1e30"})
    EXPECT_FALSE(import_text(ImportFormat::kHpcc, "2 1 1\n1\n0 1 " + std::string(rate) + " 1us 0\n").topology) << rate;
}

TEST(Ns3Topology, OneMistakeOf256LinesIsOneError) {
  std::string text = "257 1 256\n256\n";
  for (int n = 0; n < 256; ++n)
    text += std::to_string(n) + " 256 fast" + std::to_string(n) + " " + (n % 2 == 0 ? "1us" : "soon") + " 0\n";
  EXPECT_THAT(import_text(ImportFormat::kHpcc, text).complaints,
              ElementsAre("t.txt:3:7: 'fast0' is no rate such as 100Gbps (and 255 more of this kind)",
                          "t.txt:4:13: 'soon' is no delay such as 1000ns, in whole picoseconds (and 127 more of this "
                          "kind)"));
}

class WrongNs3Topology : public testing::TestWithParam<Wrong> {};

TEST_P(WrongNs3Topology, IsRefusedWithItsLine) {
  const Imported read = import_text(ImportFormat::kHpcc, GetParam().text);
  EXPECT_FALSE(read.topology);
  EXPECT_THAT(read.complaints, ElementsAre(StartsWith(GetParam().complaint)));
}

INSTANTIATE_TEST_SUITE_P(
    Ns3Topology, WrongNs3Topology,
    testing::Values(
        Wrong{"", "t.txt: is empty"}, Wrong{"3 1\n", "t.txt:1:1: the first line must have 3 or 4 fields, not 2"},
        Wrong{"3 8 1 1 4 H100\n", "t.txt:1:1: the first line must have 3 or 4 fields, not 6: is the format simai?"},
        Wrong{"-3 1 2\n", "t.txt:1:1: the number of nodes must be a number of 0 to 500000, not '-3'"},
        Wrong{"3 4 2\n", "t.txt:1:3: the number of switches must be a number of 0 to 3, not '4'"},
        Wrong{"3 1 99999999\n", "t.txt:1:5: the number of links must be a number of 0 to 2000000, not '99999999'"},
        Wrong{"500000 0 1\n0 1 1Gbps 1us 0\n",
              "t.txt:1:1: declares 500000 nodes, and the file has 27 bytes: too few for a link of each"},
        Wrong{"3 2 2\n2\n", "t.txt:2:1: ends before the numbers of all 2 switches"},
        Wrong{"3 1 2\n2 1\n", "t.txt:2:3: more numbers than the 1 switches that line 1 declares"},
        Wrong{"3 2 1\n2 2\n0 2 1Gbps 1us 0\n", "t.txt:2:3: the switch 2 stands here already"},
        Wrong{"3 1 2\n2\n0 2 1Gbps 1us 0\n", "t.txt:3:1: 2 links are declared in line 1, and 1 stand here"},
        Wrong{"3 1 2\n2\n0 2 1Gbps 1us 0\n2 0 1Gbps 1us 0\n", "t.txt:4:1: 2 and 0 are joined in line 3 already"},
        Wrong{"3 1 2\n2\n0 2 1Gbps 1us 0\n3 2 1Gbps 1us 0\n", "t.txt:4:1: a node must be a number of 0 to 2, not '3'"},
        Wrong{"3 1 1\n2\n0 2 1Gbps 1us 0\n", "t.txt:1:1: the node 1 has no link"},
        Wrong{"2 1 1\n1\n0 0 1Gbps 1us 0\n", "t.txt:3:3: joins 0 to itself"},
        Wrong{"2 1 1\n1\n0 1 1Gbps 1us\n",
              "t.txt:3:1: a link is NODE NODE RATE DELAY ERROR_RATE, and here are 4 fields"},
        Wrong{"2 1 1\n1\n0 1 fast 1us 0\n", "t.txt:3:5: 'fast' is no rate such as 100Gbps"},
        Wrong{"2 1 1\n1\n0 1 2Tbps 1us 0\n", "t.txt:3:5: a link has 1Mbps to 1"},
        Wrong{"2 1 1\n1\n0 1 1Gbps 1min 0\n", "t.txt:3:11: a link takes 2"},
        Wrong{"2 1 1\n1\n0 1 1Gbps -1us 0\n", "t.txt:3:11: '-1us' is no delay such as 1000ns, in whole picoseconds"},
        Wrong{"2 1 1\n1\n0 1 1Gbps 1us 1.5\n", "t.txt:3:15: an error rate is from 0 to 1, not '1.5'"},
        Wrong{
            "4 1 3\n3\n0 1 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n",
            "t.txt:3:1: joins two hosts, and h1 has another link: hosts do not forward; a rule can make it a switch"}));

}  // namespace
}  // namespace softspine::control
