// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/port_list.hpp"

#include <gtest/gtest.h>

#include "tests/unit/storm/recording.hpp"
#include "tests/unit/storm/scratch_text.hpp"

namespace softspine::analysis::storm {
namespace {

using tests::ethernet;
using tests::kSourceBase;
using tests::pauses_of;
using tests::Recording;
using tests::TextFile;
using tests::Texts;

TEST(PortList, NamesInterfacesAndAddresses) {
  const TextFile list("# ours\neth3 sw1:Ethernet12\n02:00:00:00:00:1f  gpu7:mlx5_0 # the seventh\n\n");
  KnownFabric known;
  const auto read = read_port_list(list.path, known);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(known.port_of_interface["eth3"], "sw1:Ethernet12");
  EXPECT_EQ(known.port_of_mac[kSourceBase + 0x1f], "gpu7:mlx5_0");
}

TEST(PortList, SaysWhatIsWrongAndWhere) {
  for (const auto& [text, wrong] :
       {std::pair{"eth3\n", ":1: 'eth3': a name or MAC address and a port are needed"},
        {"\neth3 sw1\n", ":2: 'sw1' is no port: write NODE:PORT, such as tor1:Ethernet4"},
        {"eth3 :a\n", ":1: ':a' is no port: write NODE:PORT, such as tor1:Ethernet4"},
        {"eth3 a:\n", ":1: 'a:' is no port: write NODE:PORT, such as tor1:Ethernet4"},
        {"eth0 tor1:a more\n", ":1: 'more' is no port: write NODE:PORT, such as tor1:Ethernet4"},
        {"a b:c\na b:d\n", ":2: 'a' stands there twice"},
        {"02:00:00:00:00:1f b:c\n\n0200.0000.001F b:d\n", ":3: '0200.0000.001F' stands there twice"}}) {
    const TextFile list(text);
    KnownFabric known;
    const auto read = read_port_list(list.path, known);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error(), list.path + wrong);
  }
}

TEST(PortList, TakesAddressesAsVendorsWriteThem) {
  const TextFile list("02-11-22-33-44-55 a:1\r\n0211.2233.4456\tb:1\n02:11:22:33:44:5F c:1\n");
  KnownFabric known;
  ASSERT_TRUE(read_port_list(list.path, known));
  EXPECT_EQ(known.port_of_mac, (std::unordered_map<uint64_t, std::string>{
                                   {0x021122334455, "a:1"}, {0x021122334456, "b:1"}, {0x02112233445f, "c:1"}}));
  EXPECT_TRUE(known.port_of_interface.empty());
}

TEST(PortList, TakesNoSignsNorMixedSeparatorsForAnAddress) {
  for (const std::string what : {"-2:11:22:33:44:55", "+2:11:22:33:44:55", "02:11-22:33:44:55", "2:11:22:33:44:55",
                                 "0211.2233:4455", "02:11:22:33:44:55:66", "021122334455",
                                 // on both sides of the digits and letters in ASCII
                                 "02:11:22:33:44:5/", "02:11:22:33:44:5:", "02:11:22:33:44:5;", "02:11:22:33:44:5@",
                                 "02:11:22:33:44:5G", "02:11:22:33:44:5`", "02:11:22:33:44:5g"}) {
    const TextFile list(what + " a:1\n");
    KnownFabric known;
    ASSERT_TRUE(read_port_list(list.path, known));
    EXPECT_TRUE(known.port_of_mac.empty()) << what;
    EXPECT_EQ(known.port_of_interface[what], "a:1");
  }
}

// SONiC sends from one address at all ports.
TEST(PortList, NamesTheNodeOfAnAddress) {
  const TextFile list("02:11:22:33:44:55 leaf01\n0211.2233.4456 spine01 # base MAC\n");
  KnownFabric known;
  const auto read = read_port_list(list.path, known);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(known.node_of_mac,
            (std::unordered_map<uint64_t, std::string>{{0x021122334455, "leaf01"}, {0x021122334456, "spine01"}}));
  EXPECT_TRUE(known.port_of_mac.empty());
  EXPECT_EQ(unmatched_lines(known, PauseRecorder{}), "1 (02:11:22:33:44:55), 2 (0211.2233.4456)");
}

TEST(PortList, MayBeTheConfigDbOfASwitch) {
  const TextFile list(R"({
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf01", "mac": "0C:29:ef:00:00:01"}},
    "PORT": {"Ethernet0": {"alias": "etp1", "lanes": "0,1"}, "Ethernet4": {"alias": "Ethernet4"}, "Ethernet8": {}}
  })");
  KnownFabric known;
  const auto read = read_port_list(list.path, known);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(known.node_of_mac, (std::unordered_map<uint64_t, std::string>{{0x0c29ef000001, "leaf01"}}));
  EXPECT_EQ(known.port_of_interface,
            (std::unordered_map<std::string, std::string>{{"leaf01:etp1", "leaf01:Ethernet0"}}));
  EXPECT_EQ(unmatched_lines(known, PauseRecorder{}), "") << "what of it is in no capture is nobody's mistake";
  const TextFile nameless(R"({"DEVICE_METADATA": {"localhost": {"mac": "0c:29:ef:00:00:01"}}})");
  KnownFabric by_file;
  ASSERT_TRUE(read_port_list(nameless.path, by_file));
  EXPECT_EQ(by_file.node_of_mac[0x0c29ef000001], std::filesystem::path{nameless.path}.stem().string());
}

TEST(PortList, SaysWhatIsWrongWithAConfigDb) {
  for (const auto& [text, wrong] : {std::pair{R"({"VLAN": {}})", "has neither DEVICE_METADATA|localhost nor PORT"},
                                    {R"({"PORT": )", "begins with {, but is no JSON"},
                                    {R"({"PORT": [1]})", "has neither"},
                                    {R"({"DEVICE_METADATA": {"localhost": {"mac": "x"}}})",
                                     "DEVICE_METADATA|localhost|mac: 'x' is no MAC address"}}) {
    const TextFile list(text);
    KnownFabric known;
    const auto read = read_port_list(list.path, known);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().find(list.path + ": " + wrong), 0u) << read.error();
  }
}

TEST(PortList, NamesAnInterfaceThatHasNoName) {
  const TextFile list("interface 0   sw1:Ethernet12\n");
  KnownFabric known;
  ASSERT_TRUE(read_port_list(list.path, known));
  Recording it{.interfaces = {ethernet("")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kIn, 1, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(pauses_of(it.log(known)), Texts{"02:00:00:00:00:01 stops sw1:Ethernet12"});
}

TEST(PortList, RefusesAFolder) {
  KnownFabric known;
  const auto read = read_port_list(testing::TempDir(), known);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().find("is a directory"), std::string::npos) << read.error();
}

TEST(PortList, SaysWhichOfItsLinesMatchNothing) {
  const TextFile list("02:00:00:00:00:01 h1:eth0\n02:00:00:00:00:02 h2:eth0\neth3 sw1:a\n# no\neth33 sw1:b\n");
  KnownFabric known;
  ASSERT_TRUE(read_port_list(list.path, known));
  Recording it{.interfaces = {ethernet("eth3")}, .recorder = PauseRecorder{}};
  it.frame(0, Way::kIn, 1, tests::pfc_frame(1, 8, 0xffff));
  EXPECT_EQ(unmatched_lines(known, it.recorder), "2 (02:00:00:00:00:02), 5 (eth33)");
  it.frame(0, Way::kIn, 2, tests::pfc_frame(2, 8, 0xffff));
  it.interfaces.push_back(ethernet("eth33"));
  it.recorder.finish(it.interfaces);
  EXPECT_EQ(unmatched_lines(known, it.recorder), "");
}

}  // namespace
}  // namespace softspine::analysis::storm
