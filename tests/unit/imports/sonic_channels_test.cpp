// SPDX-License-Identifier: Apache-2.0
// Port channels of config_db.json files: which become LAGs, what is said of others, and the testbed that they are in.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two links to leaf1, one to leaf2, two to hosts.
std::string tor(const std::string& channels, const std::string& members, const char* speed = "100000") {
  return fmt::format(R"({{
 "DEVICE_METADATA": {{"localhost": {{"hostname": "tor1", "type": "ToRRouter"}}}},
 "PORT": {{"Ethernet0": {{"speed": "100000"}}, "Ethernet4": {{"speed": "{}"}}, "Ethernet8": {{"speed": "100000"}},
          "Ethernet12": {{"speed": "100000"}}, "Ethernet16": {{"speed": "100000"}}}},
 "DEVICE_NEIGHBOR_METADATA": {{"leaf1": {{"type": "LeafRouter"}}, "leaf2": {{"type": "LeafRouter"}}}},
 "DEVICE_NEIGHBOR": {{"Ethernet0": {{"name": "leaf1", "port": "Ethernet0"}},
                     "Ethernet4": {{"name": "leaf1", "port": "Ethernet4"}},
                     "Ethernet8": {{"name": "leaf2", "port": "Ethernet0"}},
                     "Ethernet12": {{"name": "Servers0", "port": "eth0"}},
                     "Ethernet16": {{"name": "Servers1", "port": "eth0"}}}},
 "PORTCHANNEL": {{{}}},
 "PORTCHANNEL_MEMBER": {{{}}}}})",
                     speed, channels, members);
}
std::string leaf(const std::string& channels, const std::string& members) {
  return fmt::format(R"({{
 "DEVICE_METADATA": {{"localhost": {{"hostname": "leaf1", "type": "LeafRouter"}}}},
 "DEVICE_NEIGHBOR": {{"Ethernet0": {{"name": "tor1", "port": "Ethernet0"}},
                     "Ethernet4": {{"name": "tor1", "port": "Ethernet4"}}}},
 "PORTCHANNEL": {{{}}},
 "PORTCHANNEL_MEMBER": {{{}}}}})",
                     channels, members);
}
constexpr const char* kBoth = R"("PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {})";

std::vector<Lag> lags_in(const std::vector<std::string>& texts) {
  const Imported found = import_sonic(texts);
  if (!found.topology) {
    ADD_FAILURE() << found.complaints.front();
    return {};
  }
  return testbed_of(found, ImportFormat::kSonic, sonic_files(texts)).fabric.lags;
}
std::string complaint_about_channels(const std::string& channels, const std::string& members) {
  const Imported found = import_sonic({tor(channels, members)});
  return found.complaints.empty() ? "" : found.complaints.front();
}
// What is said of port channels.
std::vector<std::string> notes_of(const std::vector<std::string>& texts) {
  Imported found = import_sonic(texts);
  std::erase_if(found.notes, [](const std::string& note) { return !note.contains("PortChannel"); });
  return found.notes;
}

TEST(SonicChannels, AreLagsWhoseLacpHasAgreed) {
  const auto lags = lags_in({tor(R"("PortChannel1": {"min_links": "2", "fast_rate": "true"})", kBoth)});
  ASSERT_EQ(lags.size(), 1u);
  EXPECT_EQ(lags[0].name, "tor1-PortChannel1");
  EXPECT_EQ(lags[0].links.size(), 2u);
  EXPECT_EQ(lags[0].min_links, 2u);
  EXPECT_EQ(lags[0].mode, LagMode::kLacp);
  EXPECT_TRUE(lags[0].agreed);
  EXPECT_EQ(lags[0].fast_rate, (std::array{true, true}));
}

TEST(SonicChannels, OfBothEndsAreOneLag) {
  const std::string mine = tor(R"("PortChannel1": {})", kBoth);
  const std::string theirs =
      leaf(R"("PortChannel7": {"min_links": "2"})", R"("PortChannel7|Ethernet4": {}, "PortChannel7|Ethernet0": {})");
  const auto lags = lags_in({mine, theirs});
  ASSERT_EQ(lags.size(), 1u);
  EXPECT_EQ(lags[0].name, "tor1-PortChannel1");
  EXPECT_EQ(lags[0].min_links, 2u) << "the larger of both ends'";
  EXPECT_EQ(lags[0].fast_rate, (std::array{false, false}));
  const auto turned = lags_in({theirs, mine});
  ASSERT_EQ(turned.size(), 1u);
  EXPECT_EQ(turned[0].name, "leaf1-PortChannel7") << "the first file's";
}

TEST(SonicChannels, ThatAreNoLagsAreNotedWithTheReason) {
  const std::string one = R"("PortChannel1": {})";
  EXPECT_THAT(
      notes_of({tor(one, R"("PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet8": {})")}),
      ElementsAre(HasSubstr(
          "a.json:11:18: PORTCHANNEL.PortChannel1: 'PortChannel1' is no LAG: its members lead to several nodes")));
  EXPECT_THAT(notes_of({tor(one, R"("PortChannel1|Ethernet12": {})")}), ElementsAre(HasSubstr("it leads to a host")));
  EXPECT_THAT(notes_of({tor(one, kBoth, "25000")}), ElementsAre(HasSubstr("its members differ in rate or MTU")));
  EXPECT_THAT(notes_of({tor(one, kBoth), leaf(one, R"("PortChannel1|Ethernet0": {})")}),
              ElementsAre(HasSubstr("the file of 'leaf1' does not have the same links in one"),
                          HasSubstr("the file of 'tor1' does not have the same links in one")));
  EXPECT_THAT(notes_of({tor(one, kBoth), leaf("", "")}),
              ElementsAre(HasSubstr("the file of 'leaf1' does not have the same links in one")));
  EXPECT_THAT(notes_of({tor(one, kBoth)}), IsEmpty());
  EXPECT_THAT(lags_in({tor(one, R"("PortChannel1|Ethernet12": {})")}), IsEmpty());
}

TEST(SonicChannels, SayWhatIsOtherwiseHere) {
  EXPECT_THAT(notes_of({tor(R"("PortChannel1": {"min_links": "3"})", kBoth)}),
              ElementsAre(HasSubstr("has fewer links here than its min_links, 3")));
  EXPECT_THAT(notes_of({tor(R"("PortChannel1": {"fast_rate": "true"})", kBoth), leaf(R"("PortChannel1": {})", kBoth)}),
              ElementsAre(HasSubstr("has the fast rate at both ends here")));
}

TEST(SonicChannels, ThatAreWrongAreRefused) {
  EXPECT_THAT(complaint_about_channels("", R"("PortChannel1|Ethernet0": {})"),
              HasSubstr("must be a name of PORTCHANNEL, '|' and a port, not 'PortChannel1|Ethernet0'"));
  EXPECT_THAT(complaint_about_channels(R"("PortChannel1": {})", R"("PortChannel1": {})"),
              HasSubstr("must be a name of PORTCHANNEL, '|' and a port"));
  EXPECT_THAT(complaint_about_channels(R"("PortChannel1": {}, "PortChannel2": {})",
                                       R"("PortChannel1|Ethernet0": {}, "PortChannel2|Ethernet0": {})"),
              HasSubstr("the port is in another port channel already"));
  EXPECT_THAT(complaint_about_channels(R"("PortChannel1": {"min_links": "two"})", ""),
              HasSubstr("PORTCHANNEL.PortChannel1.min_links: expected a number"));
}

// Nodes that a rule leaves out take their LAGs with them.
TEST(SonicChannels, FollowTheRulesOfTheUser) {
  const std::vector<std::string> texts{
      tor(R"("PortChannel1": {}, "PortChannel2": {})",
          R"("PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {}, "PortChannel2|Ethernet8": {})")};
  EXPECT_EQ(lags_in(texts).size(), 2u) << "a LAG of one link is one";
  const Imported found = import_sonic(texts, {.rules = {{.pattern = "leaf1", .use = NodeUse::kNothing}}});
  ASSERT_TRUE(found.topology);
  const auto lags = testbed_of(found, ImportFormat::kSonic, sonic_files(texts)).fabric.lags;
  ASSERT_EQ(lags.size(), 1u);
  EXPECT_EQ(lags[0].name, "tor1-PortChannel2");
}

TEST(SonicChannels, AreThereWhereATestbedReadsTheFileItself) {
  const auto folder = std::filesystem::path(testing::TempDir());
  std::ofstream(folder / "softspine-tor1.json") << tor(R"("PortChannel1": {})", kBoth);
  const auto testbed = parse_testbed(
      "name: t\ntopology:\n  import: {file: softspine-tor1.json, format: sonic}\n  lags: [{name: own, between: [tor1, "
      "leaf2]}]\n",
      (folder / "t.yaml").string());
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  ASSERT_EQ(testbed->fabric.lags.size(), 2u);
  EXPECT_EQ(testbed->fabric.lags[0].name, "own");
  EXPECT_EQ(testbed->fabric.lags[1].name, "tor1-PortChannel1");
  EXPECT_EQ(testbed->fabric.lags[1].links.size(), 2u);
  const auto twice = parse_testbed(
      "name: t\ntopology:\n  import: {file: softspine-tor1.json, format: sonic}\n  lags: [{name: own, between: [tor1, "
      "leaf1]}]\n",
      (folder / "t.yaml").string());
  ASSERT_FALSE(twice);
  EXPECT_THAT(to_string(twice.error().front()),
              HasSubstr("3:18: topology.import.file: tor1:Ethernet0 is in own already"));
  std::filesystem::remove(folder / "softspine-tor1.json");
}

}  // namespace
}  // namespace softspine::control
