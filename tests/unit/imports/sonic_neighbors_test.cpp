// SPDX-License-Identifier: Apache-2.0
// config_db.json files, as far as links go.
#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kTor = R"({
 "DEVICE_METADATA": {"localhost": {"hostname": "tor1", "type": "ToRRouter"}},
 "PORT": {"Ethernet0": {"speed": "100000", "mtu": "9100", "alias": "etp1"},
          "Ethernet4": {"speed": "25000", "admin_status": "up"},
          "Ethernet8": {"speed": "100000", "admin_status": "down"}},
 "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m", "Ethernet4": "0m"}},
 "DEVICE_NEIGHBOR_METADATA": {"leaf1": {"type": "LeafRouter"}, "leaf2": {"type": "LeafRouter"}},
 "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "leaf1", "port": "Ethernet8"},
                     "Ethernet4": {"name": "Servers0", "port": "eth0"},
                     "Ethernet8": {"name": "leaf2", "port": "Ethernet0"}}})";
constexpr const char* kLeaf = R"({
 "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "type": "LeafRouter"}},
 "PORT": {"Ethernet8": {"speed": "100000", "mtu": "1500"}},
 "DEVICE_NEIGHBOR": {"Ethernet8": {"name": "tor1", "port": "etp1"}}})";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(SonicNeighbors, OneFileGivesItsSwitchAndItsNeighbours) {
  const Imported found = import_sonic({kTor});
  ASSERT_TRUE(found.topology) << found.complaints[0];
  EXPECT_THAT(names_by_use(*found.topology),
              ElementsAre(Pair("aggregation", "leaf1"), Pair("host", "Servers0"), Pair("tor", "tor1")));
  EXPECT_THAT(links_of(*found.topology),
              ElementsAre("tor1:Ethernet0 leaf1:Ethernet8 100Gbps", "tor1:Ethernet4 Servers0:eth0 25Gbps"));
  EXPECT_EQ(found.topology->links[0].length, Length::metres(40));
  EXPECT_EQ(found.topology->links[0].mtu, 9'100u);
  EXPECT_EQ(found.topology->links[1].length, Length::metres(3)) << "0m is SONiC's word for no cable";
  EXPECT_EQ(found.topology->links_left_out, 1u) << "administratively down";
}

TEST(SonicNeighbors, ANeighboursTypeSaysWhatItIs) {
  const auto uses = [](const std::string& type) {
    const Imported found = import_sonic({changed(kTor, "\"LeafRouter\"", "\"" + type + "\"")});
    return found.topology ? names_by_use(*found.topology) : decltype(names_by_use(*found.topology)){};
  };
  EXPECT_THAT(uses("UpperSpineRouter"),
              ElementsAre(Pair("core", "leaf1"), Pair("host", "Servers0"), Pair("tor", "tor1")));
  EXPECT_THAT(uses("BackEndToRRouter"), ElementsAre(Pair("host", "Servers0"), Pair("tor", "tor1 leaf1")));
  EXPECT_THAT(uses("Server"), ElementsAre(Pair("host", "leaf1 Servers0"), Pair("tor", "tor1")));
}

TEST(SonicNeighbors, TwoFilesOfOneLinkGiveOneLink) {
  for (const auto& texts : {std::vector<std::string>{kTor, kLeaf}, std::vector<std::string>{kLeaf, kTor}}) {
    const Imported found = import_sonic(texts);
    ASSERT_TRUE(found.topology) << found.complaints[0];
    EXPECT_EQ(found.topology->links.size(), 2u);
    EXPECT_EQ(found.topology->links[0].mtu, 1'500u) << "the smaller of both ends";
    EXPECT_EQ(found.topology->links[0].length, Length::metres(40));
  }
}

TEST(SonicNeighbors, FilesThatContradictEachOtherAreRefused) {
  EXPECT_THAT(import_sonic({kTor, changed(kLeaf, "\"100000\"", "\"40000\"")}).complaints,
              ElementsAre(AllOf(HasSubstr("b.json:4:22: "),
                                HasSubstr("the ends of the link differ in speed: 40000 here, 100000 at 'tor1'"))));
  EXPECT_THAT(
      import_sonic({kTor, changed(kLeaf, "etp1", "Ethernet4")}).complaints,
      testing::Contains(HasSubstr("leads to 'leaf1' 'Ethernet8', which leads to 'tor1' 'Ethernet4' (b.json line 4)")));
  EXPECT_THAT(import_sonic({kTor, changed(kLeaf, "{\"Ethernet8\": {\"name\"", "{\"Ethernet9\": {\"name\"")}).complaints,
              testing::Contains(HasSubstr("the file of 'leaf1' has no neighbour at 'Ethernet8'")));
  EXPECT_THAT(import_sonic({kTor, kTor}).complaints, ElementsAre(HasSubstr("the switch 'tor1' has a file already")));
}

TEST(SonicNeighbors, WrongFilesAreRefusedWithPathAndLine) {
  EXPECT_THAT(import_sonic({"{\"PORT\": {}}"}).complaints,
              ElementsAre(HasSubstr("a.json:1:1: has no table DEVICE_NEIGHBOR")));
  EXPECT_THAT(import_sonic({changed(kTor, "\"25000\"", "\"9999999\"")}).complaints,
              ElementsAre(HasSubstr("PORT.Ethernet4.speed: must be 1 to 1600000 Mb/s, not 9999999")));
  EXPECT_THAT(import_sonic({changed(kTor, "\"40m\"", "\"far\"")}).complaints,
              ElementsAre(HasSubstr("CABLE_LENGTH.AZURE.Ethernet0: expected a length such as 40m")));
  EXPECT_THAT(import_sonic({changed(kTor, "\"name\": \"leaf1\", ", "")}).complaints,
              ElementsAre(HasSubstr("DEVICE_NEIGHBOR.Ethernet0: the key 'name' is missing")));
}

}  // namespace
}  // namespace softspine::control
