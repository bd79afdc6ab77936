// SPDX-License-Identifier: Apache-2.0
// htsim's .topo files.
#include <filesystem>

#include "control/document/text_file.hpp"
#include "tests/harness/samples.hpp"
#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string tier(int number, int gbps, int down, int up, const std::string& more = "") {
  return "\nTier " + std::to_string(number) + "\nDownlink_speed_Gbps " + std::to_string(gbps) + "\nRadix_Down " +
         std::to_string(down) + "\n" + (up > 0 ? "Radix_Up " + std::to_string(up) + "\n" : "") +
         "Downlink_Latency_ns 1000\n" + more;
}
std::string head(int nodes, int tiers, int pod) {
  return "# a comment\nNodes " + std::to_string(nodes) + "\nTiers " + std::to_string(tiers) + "\nPodsize " +
         std::to_string(pod) + "\n";
}

TEST(HtsimTopology, TwoTiersAreALeafSpine) {
  const Imported read =
      import_text(ImportFormat::kHtsim,
                  head(4, 2, 4) + tier(0, 100, 2, 2, "Switch_Latency_ns 0\nOversubscribed 1\n") + tier(1, 100, 2, 0));
  ASSERT_TRUE(read.topology) << read.complaints[0];
  EXPECT_THAT(names_by_use(*read.topology),
              ElementsAre(Pair("aggregation", "agg0 agg1"), Pair("host", "h0 h1 h2 h3"), Pair("tor", "tor0 tor1")));
  EXPECT_THAT(links_of(*read.topology),
              ElementsAre("h0:eth0 tor0:Ethernet0 100Gbps", "h1:eth0 tor0:Ethernet4 100Gbps",
                          "h2:eth0 tor1:Ethernet0 100Gbps", "h3:eth0 tor1:Ethernet4 100Gbps",
                          "tor0:Ethernet8 agg0:Ethernet0 100Gbps", "tor0:Ethernet12 agg1:Ethernet0 100Gbps",
                          "tor1:Ethernet8 agg0:Ethernet4 100Gbps", "tor1:Ethernet12 agg1:Ethernet4 100Gbps"));
  EXPECT_THAT(read.notes, IsEmpty());
}

// Two pods of two ToRs and two switches above; each of those goes to two cores by two links: htsim's own test.topo.
TEST(HtsimTopology, CoresAreJoinedInPlanes) {
  const Imported read = import_text(
      ImportFormat::kHtsim, head(8, 3, 4) + tier(0, 200, 2, 2) + tier(1, 200, 2, 4) + tier(2, 100, 4, 0, "Bundle 2\n"));
  ASSERT_TRUE(read.topology) << read.complaints[0];
  std::vector<std::string> of_second;
  std::vector<std::string> of_last_tor;
  for (const ForeignLink& link : read.topology->links) {
    const std::string& a = read.topology->nodes[link.a.node].name;
    const std::string& b = read.topology->nodes[link.b.node].name;
    if (a == "agg3") of_second.push_back(b);
    if (a == "tor3") of_last_tor.push_back(b);
  }
  EXPECT_THAT(of_second, ElementsAre("core1", "core1", "core3", "core3"));
  EXPECT_THAT(of_last_tor, ElementsAre("agg2", "agg3"));
  EXPECT_EQ(read.topology->links.size(), 8u + 8 + 16);
}

TEST(HtsimTopology, HasTheLatencyOfTheFile) {
  const std::vector<ImportFile> files{
      {"t.txt", head(4, 2, 4) + tier(0, 100, 2, 2, "Switch_Latency_ns 50\n") + tier(1, 100, 2, 0)}};
  const Imported read = import_files(ImportFormat::kHtsim, files);
  ASSERT_TRUE(read.topology) << read.complaints[0];
  EXPECT_THAT(read.notes,
              ElementsAre("t.txt:6:1: Switch_Latency_ns is not taken over: switches here take no time but a frame's"));
  for (const ForeignLink& link : read.topology->links) EXPECT_EQ(link.length, Length{198'000'000});
}

TEST(HtsimTopology, MistakesHaveTheirPlace) {
  const auto said = [](const std::string& text) { return import_text(ImportFormat::kHtsim, text).complaints; };
  const std::string good = tier(1, 100, 2, 0);
  EXPECT_THAT(said("Nodes 4\n"), ElementsAre("t.txt:1:1: needs Nodes and Podsize"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2)), ElementsAre("t.txt:1:1: Tiers is 2, and here are 1"));
  EXPECT_THAT(said(head(4, 2, 2) + tier(0, 100, 2, 2) + good),
              ElementsAre("t.txt:1:1: two tiers are one pod: Podsize is Nodes"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 3, 2) + good),
              ElementsAre("t.txt:6:1: Podsize is no multiple of its Radix_Down"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2) + tier(1, 100, 4, 0)),
              ElementsAre("t.txt:12:1: its Radix_Down is 4, and below it are 2 ToRs by 1 links each"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2, "Oversubscribed 2\n") + good),
              ElementsAre("t.txt:6:1: Oversubscribed is not what its radixes and rates make"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2, "Queue 2\n") + good),
              ElementsAre("t.txt:11:1: 'Queue' is not known of a tier"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2'000'001) + good),
              ElementsAre("t.txt:6:1: Radix_Up is more than a testbed has links"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2'000'000) + good),
              ElementsAre("t.txt:6:1: has more nodes or links than a testbed can have"));
  EXPECT_THAT(said(head(6, 3, 4) + tier(0, 100, 2, 2) + tier(1, 100, 2, 2) + tier(2, 100, 2, 0)),
              ElementsAre("t.txt:1:1: Nodes is no multiple of Podsize"));
  EXPECT_THAT(said(head(8, 3, 4) + tier(0, 100, 2, 2) + tier(1, 100, 2, 2) + tier(2, 100, 3, 0)),
              ElementsAre("t.txt:18:1: its Radix_Down is 3, and below it are 2 pods by 1 links each"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2, "Bundle 2\n") + good),
              ElementsAre("t.txt:6:1: a host has one link: Bundle is 1"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 0, 2, 2) + good),
              ElementsAre("t.txt:6:1: has no rate that a link can have: Downlink_speed_Gbps"));
  EXPECT_THAT(said(head(4, 2, 4) + tier(0, 100, 2, 2, "Downlink_Latency_ns 4000000000\n") + good),
              ElementsAre("t.txt:6:1: Downlink_Latency_ns is longer than a link's"));
  EXPECT_THAT(said("Nodes 4\n" + head(4, 2, 4) + tier(0, 100, 2, 2) + good),
              ElementsAre("t.txt:3:1: 'Nodes' stands here twice"));
  EXPECT_THAT(said("Nodes many\n"),
              ElementsAre("t.txt:1:7: expected a number from 0 to 4294967295, and here stands 'many'"));
  EXPECT_THAT(said(head(4, 2, 4) + good), ElementsAre("t.txt:6:1: expected Tier 0, and here stands 1"));
}

// htsim's own, where they are.
TEST(HtsimTopology, ItsTopologiesAreRead) {
  const softspine::tests::Samples samples =
      softspine::tests::samples_of("SOFTSPINE_HTSIM", "uet-htsim", "htsim's topologies");
  if (!samples.missing.empty()) GTEST_SKIP() << samples.missing;
  uint32_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(samples.folder / "topologies")) {
    const auto text = read_text_file(entry.path().string());
    ASSERT_TRUE(text);
    const Imported read = import_text(ImportFormat::kHtsim, *text);
    EXPECT_TRUE(read.topology) << entry.path() << read.complaints[0];
    ++found;
  }
  EXPECT_GE(found, 25u);
}

}  // namespace
}  // namespace softspine::control
