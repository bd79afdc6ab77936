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

// Tables are maps; one that is something else says nothing, as if it were not there.
TEST(SonicNeighbors, ATableThatIsNoMapSaysNothing) {
  const std::string metadata = R"({"leaf1": {"type": "LeafRouter"}, "leaf2": {"type": "LeafRouter"}})";
  for (const char* none : {"{}", "[]", "\"\"", R"(["leaf1", {"type": "Server"}])"}) {
    const Imported found = import_sonic({changed(kTor, metadata, none)});
    ASSERT_TRUE(found.topology) << found.complaints[0];
    EXPECT_THAT(names_by_use(*found.topology),
                ElementsAre(Pair("aggregation", "leaf1"), Pair("host", "Servers0"), Pair("tor", "tor1")));
    EXPECT_THAT(found.notes,
                testing::Contains(HasSubstr("'leaf1' has no type in DEVICE_NEIGHBOR_METADATA: taken for a switch")));
  }
  const std::string lengths = R"({"AZURE": {"Ethernet0": "40m", "Ethernet4": "0m"}})";
  for (const char* none : {"{}", "[]", R"(["AZURE", {"Ethernet0": "40m"}])", R"({"AZURE": ["Ethernet0", "40m"]})"}) {
    const Imported found = import_sonic({changed(kTor, lengths, none)});
    ASSERT_TRUE(found.topology) << found.complaints[0];
    EXPECT_EQ(found.topology->links.at(0).length, Length::metres(3));
    EXPECT_THAT(found.notes, testing::Contains(HasSubstr("2 links have no CABLE_LENGTH, the first here: 3m")));
  }
  EXPECT_THAT(import_sonic({R"({"DEVICE_NEIGHBOR": ["Ethernet0", {"name": "leaf1"}]})"}).complaints,
              ElementsAre(HasSubstr("has no table DEVICE_NEIGHBOR")));
  const Imported no_ports = import_sonic(
      {R"({"PORT": ["Ethernet0", {"speed": "25000"}], "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "leaf1"}}})"});
  ASSERT_TRUE(no_ports.topology) << no_ports.complaints[0];
  EXPECT_EQ(no_ports.topology->links.at(0).rate, dataplane::Rate::gbps(100));
  EXPECT_THAT(no_ports.notes, testing::Contains(HasSubstr("no speed in PORT: 100Gbps is taken")));
}

// Whichever file has more to say of a link: its speed, the shorter MTU, its length, that it is down.
TEST(SonicNeighbors, EitherEndsFileSaysWhatTheLinkIs) {
  const auto end = [](const char* own, const char* other, const std::string& port, const char* tables = "") {
    return R"({"DEVICE_METADATA": {"localhost": {"hostname": ")" + std::string(own) +
           R"("}}, "PORT": {"Ethernet0": {)" + port + "}}, " + tables +
           R"("DEVICE_NEIGHBOR": {"Ethernet0": {"name": ")" + other + R"(", "port": "Ethernet0"}}})";
  };
  const char* length = R"("CABLE_LENGTH": {"AZURE": {"Ethernet0": "300m"}}, )";
  const std::string a = end("a", "b", R"("speed": "25000", "mtu": "9100")", length);
  for (const bool turned : {false, true}) {
    std::vector<std::string> texts{a, end("b", "a", R"("mtu": "1500")")};
    if (turned) std::swap(texts[0], texts[1]);
    const Imported found = import_sonic(texts);
    ASSERT_TRUE(found.topology) << found.complaints[0];
    ASSERT_EQ(found.topology->links.size(), 1U);
    EXPECT_EQ(found.topology->links[0].rate, dataplane::Rate::gbps(25));
    EXPECT_EQ(found.topology->links[0].mtu, 1'500U);
    EXPECT_EQ(found.topology->links[0].length, Length::metres(300));
    texts[turned ? 0 : 1] = end("b", "a", R"("admin_status": "down")");
    const Imported down = import_sonic(texts);
    EXPECT_THAT(down.complaints, ElementsAre(HasSubstr("nothing is left to build")));
  }
  const Imported differ = import_sonic({a, end("b", "a", "", R"("CABLE_LENGTH": {"AZURE": {"Ethernet0": "5m"}}, )")});
  ASSERT_TRUE(differ.topology) << differ.complaints[0];
  EXPECT_EQ(differ.topology->links.at(0).length, Length::metres(300)) << "the first file's";
  EXPECT_THAT(differ.notes, testing::Contains(HasSubstr("the cable's length differs from that in the file of 'a'")));
}

// Speeds from 1 Mb/s to 1.6 Tb/s, MTUs from 1,280 to 9,216, cables to 400,000 km and from 1 mm.
TEST(SonicNeighbors, NumbersHaveBounds) {
  const auto first_link = [](const std::string& text) {
    const Imported found = import_sonic({text});
    EXPECT_TRUE(found.topology) << found.complaints[0];
    return found.topology ? found.topology->links.at(0) : ForeignLink{};
  };
  const std::string speed = R"("Ethernet0": {"speed": "100000")";
  EXPECT_EQ(first_link(changed(kTor, speed, R"("Ethernet0": {"speed": "1")")).rate, dataplane::Rate::mbps(1));
  EXPECT_EQ(first_link(changed(kTor, speed, R"("Ethernet0": {"speed": "1600000")")).rate, dataplane::Rate::gbps(1'600));
  for (const char* wrong : {"0", "1600001"}) {
    EXPECT_THAT(
        import_sonic({changed(kTor, speed, R"("Ethernet0": {"speed": ")" + std::string(wrong) + "\"")}).complaints,
        ElementsAre(HasSubstr("must be 1 to 1600000 Mb/s, not " + std::string(wrong))));
  }
  EXPECT_THAT(import_sonic({changed(kTor, speed, R"("Ethernet0": {"speed": "100G")")}).complaints,
              ElementsAre(HasSubstr("PORT.Ethernet0.speed: expected a number")));
  for (const auto& [mtu, taken] : {std::pair("1279", false), {"1280", true}, {"9216", true}, {"9217", false}}) {
    const ForeignLink link = first_link(changed(kTor, "\"9100\"", "\"" + std::string(mtu) + "\""));
    EXPECT_EQ(link.mtu.has_value(), taken) << mtu;
  }
  EXPECT_EQ(first_link(changed(kTor, "40m", "400000km")).length, Length::metres(400'000'000));
  EXPECT_EQ(first_link(changed(kTor, "40m", "1mm")).length.micrometres, 1'000U);
  EXPECT_THAT(import_sonic({changed(kTor, "40m", "400001km")}).complaints,
              ElementsAre(HasSubstr("expected a length such as 40m, at most 400000km")));
}

// A switch without a hostname has its file's name, and a neighbour without a type the name of a server or not.
TEST(SonicNeighbors, NamesStandInForWhatIsNotSaid) {
  const Imported found = import_sonic({R"({"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "Server9"},
    "Ethernet4": {"name": "server10", "port": "eth1"}, "Ethernet8": {"name": "other"}}})"});
  ASSERT_TRUE(found.topology) << found.complaints[0];
  EXPECT_THAT(names_by_use(*found.topology),
              ElementsAre(Pair("aggregation", "other"), Pair("host", "Server9 server10"), Pair("tor", "a")));
  EXPECT_THAT(links_of(*found.topology),
              ElementsAre("a:Ethernet0 Server9:eth0 100Gbps", "a:Ethernet4 server10:eth1 100Gbps",
                          "a:Ethernet8 other:Ethernet0 100Gbps"));
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("'Server9' has no type in DEVICE_NEIGHBOR_METADATA: taken for "
                                                       "a host")));
  EXPECT_THAT(import_sonic({R"({"DEVICE_NEIGHBOR": {"Ethernet0": {"name": "a", "port": "Ethernet0"}}})"}).complaints,
              ElementsAre(HasSubstr("joins 'a' to itself")));
}

}  // namespace
}  // namespace softspine::control
