// SPDX-License-Identifier: Apache-2.0
// Subnets of hosts from VLAN_INTERFACE, and how a testbed's text names a switch's own file and its subnets.
#include "control/imports/sonic_hosts.hpp"

#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SonicHosts hosts_of(Reader& reader, const std::string& interfaces) {
  return read_sonic_hosts(
      reader.open("{\"VLAN_INTERFACE\": {" + interfaces + "}}", "config_db.json", Dialect::kConfigDb));
}
std::vector<std::string> subnets_of(const std::string& interfaces) {
  Reader reader("config_db.json");
  return hosts_of(reader, interfaces).subnets;
}
std::string left_out_of(const std::string& interfaces) {
  Reader reader("config_db.json");
  return hosts_of(reader, interfaces).left_out;
}

TEST(SonicHosts, AreInThePrefixAroundTheAddressOfTheSwitch) {
  EXPECT_THAT(subnets_of(R"("Vlan1000": {}, "Vlan1000|192.168.9.1/21": {})"), ElementsAre("192.168.8.0/21"));
  EXPECT_THAT(subnets_of(R"("Vlan1000|172.16.5.255/23": {}, "Vlan1000|fc02:1000::1/67": {})"),
              ElementsAre("172.16.4.0/23", "fc02:1000::/67"));
  EXPECT_THAT(subnets_of(R"("Vlan1000|fc02:0:0:1::ff/126": {})"), ElementsAre("fc02:0:0:1::fc/126"));
  EXPECT_THAT(subnets_of(R"("Vlan1000|10.9.8.7/32": {}, "Vlan1000|fc02::9/128": {})"),
              ElementsAre("10.9.8.7/32", "fc02::9/128"))
      << "one address each";
  EXPECT_THAT(subnets_of(R"("Vlan1000|10.9.8.7/0": {}, "Vlan1000|fc02::9/0": {})"), ElementsAre("0.0.0.0/0", "::/0"));
  EXPECT_THAT(subnets_of(""), IsEmpty());
  EXPECT_EQ(left_out_of(R"("Vlan1000": {})"), "");
}

TEST(SonicHosts, AreNotGuessedAt) {
  EXPECT_THAT(left_out_of(R"("Vlan1000|192.168.0.1/24": {}, "Vlan2000|192.168.1.1/24": {})"),
              HasSubstr("is of several VLANs"));
  EXPECT_THAT(left_out_of(R"("Vlan1000|192.168.0.1/24": {}, "Vlan1000|192.168.1.1/24": {})"),
              HasSubstr("several subnets of one IP version"));
  for (const char* wrong : {"192.168.0.1", "192.168.0.1/33", "192.168.0.1/", "192.168.0/24", "fc02::1/129", "/24"}) {
    const std::string interface = "\"Vlan1000|" + std::string(wrong) + "\": {}";
    EXPECT_THAT(left_out_of(interface), HasSubstr("no address and length")) << wrong;
    EXPECT_THAT(subnets_of(interface), IsEmpty()) << wrong;
  }
}

constexpr const char* kTorWithVlan = R"({
 "DEVICE_METADATA": {"localhost": {"hostname": "tor1", "type": "ToRRouter"}},
 "PORT": {"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": "25000"}, "Ethernet8": {"speed": "25000"}},
 "VLAN_INTERFACE": {"Vlan1000|192.168.0.1/21": {}},
 "DEVICE_NEIGHBOR_METADATA": {"leaf1": {"type": "LeafRouter"}},
 "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "leaf1", "port": "Ethernet8"},
                     "Ethernet4": {"name": "Servers0", "port": "eth0"},
                     "Ethernet8": {"name": "Servers1", "port": "eth0"}}})";

TEST(SonicHosts, HaveAddressesOfTheirSwitchesVlan) {
  const Imported found = import_sonic({kTorWithVlan});
  ASSERT_TRUE(found.topology) << found.complaints[0];
  const Testbed testbed = testbed_of(found, ImportFormat::kSonic, sonic_files({kTorWithVlan}));
  uint32_t hosts = 0;
  for (const FabricNode& node : testbed.fabric.nodes) {
    if (node.kind != NodeKind::kHost) continue;
    ++hosts;
    EXPECT_TRUE(parse_ipv4_prefix("192.168.0.0/21")->contains(node.ipv4)) << node.name << to_string(node.ipv4);
  }
  EXPECT_EQ(hosts, 2u);
}

TEST(SonicHosts, ANoteSaysWhichInterfacesAreLeftOut) {
  const auto notes = [](const std::string& text) {
    Imported found = import_sonic({text});
    std::erase_if(found.notes, [](const std::string& note) { return !note.contains("VLAN_INTERFACE"); });
    return found.notes;
  };
  std::string two(kTorWithVlan);
  two.insert(two.find("\"Vlan1000|"), "\"Vlan2000|10.0.0.1/24\": {}, ");
  EXPECT_THAT(notes(kTorWithVlan), IsEmpty());
  EXPECT_THAT(notes(two),
              ElementsAre(HasSubstr("VLAN_INTERFACE is of several VLANs: say which hosts are in which (vlan "
                                    "of a host): subnets are planned")));
}

TEST(SonicHosts, ASwitchsOwnFileIsKnownAndIsItsProfileOnceItIsAttached) {
  Imported found = import_sonic({kTorWithVlan});
  ASSERT_TRUE(found.topology);
  for (ForeignNode& node : found.topology->nodes) {
    EXPECT_EQ(node.own_file, node.name == "tor1" ? "a.json" : "") << node.name;
    if (node.name == "tor1") node.config_db = "../switches/a \"1\".json";
  }
  const std::string text = testbed_text(*found.topology, ImportFormat::kSonic, sonic_files({kTorWithVlan}));
  EXPECT_THAT(text, HasSubstr("\nprofiles:\n  tor1: {config_db: \"../switches/a \\\"1\\\".json\"}\n"));
  EXPECT_THAT(text,
              HasSubstr("    tor1: {kind: switch, role: tor, profile: tor1, subnet: [\"192.168.0.0/21\"]}  # line 2"));
  EXPECT_THAT(text, HasSubstr("    leaf1: {kind: switch, role: aggregation}  #"));
}

}  // namespace
}  // namespace softspine::control
