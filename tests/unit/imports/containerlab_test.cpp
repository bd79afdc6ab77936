// SPDX-License-Identifier: Apache-2.0
// containerlab's topologies.
#include <sstream>

#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Imported read(std::string_view text, const ImportOptions& options = {}) {
  return import_text(ImportFormat::kContainerlab, text, options);
}

TEST(Containerlab, MapsKindsToHostsAndSwitchesAndKeepsPorts) {
  const Imported found = read(R"(
name: clos
topology:
  nodes:
    leaf1: {kind: nokia_srlinux, type: ixr-d2l}
    leaf2: {kind: arista_ceos}
    spine: {kind: sonic-vs}
    c1: {kind: linux}
    c2: {kind: linux}
  links:
    - endpoints: ["leaf1:e1-1", "spine:eth1"]
    - endpoints: ["leaf2:eth1", "spine:eth2"]
      mtu: 1500
    - endpoints: ["c1:eth1", "leaf1:e1-2"]
    - type: veth
      endpoints: [{node: c2, interface: eth1}, {node: leaf2, interface: eth2}]
)");
  ASSERT_TRUE(found.topology) << found.complaints[0];
  EXPECT_THAT(names_by_use(*found.topology),
              ElementsAre(Pair("aggregation", "spine"), Pair("host", "c1 c2"), Pair("tor", "leaf1 leaf2")));
  EXPECT_THAT(links_of(*found.topology), ElementsAre("leaf1:e1-1 spine:eth1 100Gbps", "leaf2:eth1 spine:eth2 100Gbps",
                                                     "c1:eth1 leaf1:e1-2 100Gbps", "c2:eth1 leaf2:eth2 100Gbps"));
  EXPECT_EQ(found.topology->links[1].mtu, 1'500u);
  EXPECT_THAT(found.notes, Contains(AllOf(HasSubstr("t.txt:5:"), HasSubstr("'leaf1': 'type' not mapped"))));
  EXPECT_THAT(found.notes, Contains(HasSubstr("the file has no rates and lengths: 100Gbps and 3m")));
}

// A workload's packets fit through each link: 4,096 bytes and headers, or 1,024.
TEST(Containerlab, ThePathMtuOfTheWorkloadFitsTheSmallestLink) {
  for (const auto& [mtu, path_mtu] :
       {std::pair("1500", "mtu: 1024,"), {"4175", "mtu: 1024,"}, {"4176", "mtu: 4096,"}}) {
    const std::string text = R"(
topology:
  nodes: {s: {kind: sonic-vs}, a: {kind: linux}, b: {kind: linux}}
  links:
    - endpoints: [s:eth1, a:eth1]
      mtu: )" + std::string(mtu) +
                             R"(
    - endpoints: [s:eth2, b:eth1]
      mtu: 9000
)";
    const Imported found = read(text);
    ASSERT_TRUE(found.topology) << found.complaints[0];
    EXPECT_THAT(testbed_text(*found.topology, ImportFormat::kContainerlab, {{"t.txt", text}}), HasSubstr(path_mtu))
        << mtu;
  }
}

// YAML's merge keys may lie in each other; what lies deeper than eight is not looked for.
TEST(Containerlab, FollowsMergeKeysOfMergeKeysToABound) {
  const auto kinds = [](int deep) {
    std::string map = "{kind: sonic-vs}";
    for (int i = 0; i < deep; ++i) map = "{<<: " + map + "}";
    return read("topology:\n  nodes:\n    a: " + map +
                "\n    h: {kind: linux}\n  links:\n    - endpoints: [a:eth1, h:eth1]\n");
  };
  const Imported eight = kinds(8);
  ASSERT_TRUE(eight.topology) << eight.complaints[0];
  EXPECT_THAT(names_by_use(*eight.topology), ElementsAre(Pair("host", "h"), Pair("tor", "a")));
  const Imported nine = kinds(9);
  EXPECT_FALSE(nine.topology && names_by_use(*nine.topology) == names_by_use(*eight.topology));
}

// Three routers of one kind with the hosts.
TEST(Containerlab, TellsRoutersFromHostsOfTheKindLinuxByTheirLinks) {
  const Imported found = read(R"(
topology:
  groups: {routers: {kind: linux}, hosts: {kind: linux}}
  defaults: {kind: linux}
  nodes:
    r1: {group: routers}
    r2: {group: routers}
    r3:
    pc1: {group: hosts}
    pc2: {group: hosts}
    pc3: {group: hosts}
  links:
    - endpoints: [r1:eth1, r2:eth1]
    - endpoints: [r1:eth2, r3:eth1]
    - endpoints: [r2:eth2, r3:eth2]
    - endpoints: [pc1:eth1, r1:eth3]
    - endpoints: [pc2:eth1, r2:eth3]
    - endpoints: [pc3:eth1, r3:eth3]
)");
  ASSERT_TRUE(found.topology) << found.complaints[0];
  EXPECT_THAT(names_by_use(*found.topology), ElementsAre(Pair("host", "pc1 pc2 pc3"), Pair("tor", "r1 r2 r3")));
  EXPECT_THAT(found.notes, Contains(HasSubstr("'r1' joins other nodes: taken for a switch")));
}

// A host's two ports may lead to two switches; who is linked to a host, or to one that may be one, forwards.
TEST(Containerlab, ANodeOfTheKindLinuxAtTwoSwitchesIsAHost) {
  const auto uses = [](const char* a, const char* b) {
    return names_by_use(*read("topology:\n  nodes: {x: {kind: linux}, a: {kind: " + std::string(a) +
                              "}, b: {kind: " + b + "}}\n  links: [{endpoints: [x:1, a:1]}, {endpoints: [x:2, b:1]}]\n")
                             .topology);
  };
  EXPECT_THAT(uses("srl", "srl"), ElementsAre(Pair("host", "x"), Pair("tor", "a b")));
  EXPECT_THAT(uses("linux", "linux"), ElementsAre(Pair("host", "a b"), Pair("tor", "x")));
  EXPECT_THAT(uses("keysight_ixia-c-one", "srl"),
              ElementsAre(Pair("aggregation", "b"), Pair("host", "a"), Pair("tor", "x")));
}

TEST(Containerlab, ListsWhatItCannotMap) {
  const Imported found = read(R"(
topology:
  nodes:
    s1: {kind: nokia_srlinux}
    odd: {kind: toaster}
    lone: {kind: linux}
    c1: {kind: linux}
    long.name: {kind: linux}
  links:
    - endpoints: [c1:eth1, s1:e1-1]
    - endpoints: [long.name:eth1, "s1:et-0/0/0:0"]
    - endpoints: [odd:eth1, s1:e1-3]
    - endpoints: [s1:e1-4, host:s1-e4]
    - {type: mgmt-net, endpoint: {node: s1, interface: e1-5}, host-interface: x}
    - endpoints: [s1:e1-6, c1:eth2]
      mtu: 9500
)");
  ASSERT_TRUE(found.topology) << found.complaints[0];
  EXPECT_EQ(found.topology->nodes.size(), 3u);
  EXPECT_EQ(found.topology->nodes_left_out, 2u);
  EXPECT_EQ(found.topology->links.size(), 3u);
  EXPECT_EQ(found.topology->links_left_out, 3u);
  for (const char* note :
       {"'odd' is left out: no rule maps its kind 'toaster'", "the link 'odd' – 's1' is left out with its end",
        "'lone' has no link: left out", "'long.name' is called long_name here",
        "the port 'et-0/0/0:0' is called et-0/0/0_0 here", "'host' leads out of the lab: left out",
        "links of the type 'mgmt-net' lead out of the lab: left out", "mtu 9500 is not taken"}) {
    EXPECT_THAT(found.notes, Contains(HasSubstr(note)));
  }
}

TEST(Containerlab, RulesMapNamesBeforeKinds) {
  const ImportOptions options{.rules = {{"toaster", NodeUse::kSwitch}, {"t2", NodeUse::kCore}, {"c*", NodeUse::kHost}},
                              .rate = dataplane::Rate::gbps(25),
                              .length = Length::metres(7)};
  const Imported found = read(R"(
topology:
  nodes: {t1: {kind: toaster}, t2: {kind: toaster}, c1: {kind: toaster}}
  links: [{endpoints: [t1:a, t2:a]}, {endpoints: [c1:a, t1:b]}]
)",
                              options);
  ASSERT_TRUE(found.topology) << found.complaints[0];
  EXPECT_THAT(names_by_use(*found.topology), ElementsAre(Pair("core", "t2"), Pair("host", "c1"), Pair("tor", "t1")));
  EXPECT_EQ(found.topology->links[0].rate, dataplane::Rate::gbps(25));
  EXPECT_EQ(found.topology->links[0].length, Length::metres(7));
}

TEST(Imports, AreOfOneFileUnlessTheFormatHasSeveral) {
  for (const ImportFormat format : {ImportFormat::kHpcc, ImportFormat::kSimai, ImportFormat::kContainerlab}) {
    for (const size_t count : {0U, 2U}) {
      EXPECT_THAT(import_files(format, std::vector<ImportFile>(count)).complaints,
                  ElementsAre(HasSubstr(" is one file, not " + std::to_string(count))));
    }
  }
  EXPECT_THAT(import_files(ImportFormat::kSonic, {}).complaints,
              ElementsAre(HasSubstr("config_db.json is one file, not 0")));
}

class WrongContainerlab : public testing::TestWithParam<Wrong> {};

TEST_P(WrongContainerlab, IsRefusedWithPathAndLine) {
  const Imported found = read(GetParam().text);
  EXPECT_FALSE(found.topology);
  EXPECT_THAT(found.complaints, ElementsAre(HasSubstr(GetParam().complaint)));
}

INSTANTIATE_TEST_SUITE_P(
    Containerlab, WrongContainerlab,
    testing::Values(
        Wrong{"[1, 2]\n", "is no containerlab topology"}, Wrong{"topology: {nodes: 7}\n", "'nodes' must be a map"},
        Wrong{"topology: {nodes: {a: {image: x}}}\n", "the node has no kind"},
        Wrong{"topology:\n  nodes: {leaf1: {kind: srl}, b: {kind: srl}}\n  links:\n    - endpoints: [leaf2:e1, b:e1]\n",
              "t.txt:4:19: topology.links[0].endpoints[0]: there is no node 'leaf2': did you mean 'leaf1'?"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}, b: {kind: srl}}\n  links:\n    - endpoints: [a:e1, b:e1]\n    - "
              "endpoints: [a:e1, b:e2]\n",
              "t.txt:5:18: topology.links[1].endpoints: the port a:e1 has a link already"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}}\n  links: [{endpoints: [a:e1]}]\n", "a link has two 'endpoints'"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}}\n  links: [{endpoints: [a:e1, a:e2]}]\n", "joins 'a' to itself"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}, b: {kind: srl}}\n  links: [{endpoints: [a, b:e1]}]\n",
              "expected NODE:INTERFACE, found 'a'"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}, b: {kind: srl}}\n  links: [{endpoints: [\"a:\", b:e1]}]\n",
              "expected NODE:INTERFACE, found 'a:'"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}, b: {kind: srl}}\n  links: [{endpoints: [a:1, b:1, a:2]}]\n",
              "a link has two 'endpoints'"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}, b: {kind: srl}}\n  links: [{endpoints: a:1}]\n",
              "a link has two 'endpoints'"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}, b: {kind: srl}}\n  links: [{endpoints: [{node: a}, b:e1]}]\n",
              "an endpoint has 'node' and 'interface'"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}, b: {kind: srl}}\n  links: [{endpoints: [a:1, b:1], mtu: 1500B}]\n",
              "expected a number of bytes"},
        Wrong{"topology:\n  nodes: {a: [srl]}\n", "expected a map"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}}\n  links: {endpoints: x}\n", "expected a list of links"},
        Wrong{"topology:\n  nodes: {a: {kind: srl}}\n  links: [x]\n", "expected a map with 'endpoints'"}));

// A node's own kind counts before its group's, and that before the defaults'.
TEST(Containerlab, TakesTheNearestKind) {
  const Imported found = read(R"(
topology:
  defaults: {kind: toaster}
  groups: {racks: {kind: srl}, empty: {}}
  nodes:
    own: {kind: linux, group: racks}
    grouped: {group: racks}
    other: {group: empty}
    unknown: {group: nobody}
  links: [{endpoints: [own:1, grouped:1]}]
)");
  ASSERT_TRUE(found.topology) << found.complaints[0];
  EXPECT_THAT(names_by_use(*found.topology), ElementsAre(Pair("host", "own"), Pair("tor", "grouped")));
  for (const char* node : {"other", "unknown"}) {
    EXPECT_THAT(found.notes,
                Contains(HasSubstr("'" + std::string(node) + "' is left out: no rule maps its kind 'toaster'")));
  }
}

// From 1,280, which IPv6 needs, to 9,216.
TEST(Containerlab, TakesTheMtusThatLinksCanHave) {
  for (const auto& [mtu, is_taken] : {std::pair(1'279U, false), {1'280U, true}, {9'216U, true}, {9'217U, false}}) {
    const Imported found = read(
        "topology:\n  nodes: {s: {kind: srl}, a: {kind: linux}}\n  links: [{endpoints: [s:1, "
        "a:1], mtu: " +
        std::to_string(mtu) + "}]\n");
    ASSERT_TRUE(found.topology) << found.complaints[0];
    EXPECT_EQ(found.topology->links.at(0).mtu, is_taken ? std::optional(mtu) : std::nullopt);
    const std::string note = "mtu " + std::to_string(mtu) + " is not taken: links have 1280 to 9216";
    EXPECT_EQ(std::ranges::count_if(found.notes, [&](const std::string& each) { return each.contains(note); }),
              is_taken ? 0 : 1);
  }
}

// A list of links may be missing, or empty.
TEST(Containerlab, NeedsNoLinksButThenNothingIsBuilt) {
  for (const char* links : {"", "  links:\n", "  links: []\n"}) {
    EXPECT_THAT(read("topology:\n  nodes: {a: {kind: srl}}\n" + std::string(links)).complaints,
                ElementsAre(HasSubstr("nothing is left to build: no node has a link")));
  }
}

// The names of kinds in containerlab's manual. Firewalls and what it does not know are left out.
TEST(Containerlab, KnowsTheSwitchesAndRoutersOfItsManual) {
  std::istringstream kinds(
      "nokia_srlinux nokia_sros arista_ceos arista_veos juniper_crpd juniper_vmx juniper_vqfx cisco_xrd cisco_xrv9k "
      "cisco_n9kv cisco_c8000 cumulus_cvx aruba_aoscx sonic-vs sonic-vm dell_sonic dell_ftosv mikrotik_ros huawei_vrp "
      "ipinfusion_ocnos arrcus_arcos 6wind_vsr vyosnetworks_vyos fdio_vpp rare bridge ovs-bridge ceos srl crpd cvx xrd "
      "vr-sros linux openbsd freebsd generic_vm ext-container");
  for (std::string kind; kinds >> kind;) {
    const Imported found = read("topology:\n  nodes: {a: {kind: " + kind +
                                "}, h: {kind: linux}, g: {kind: linux}}\n"
                                "  links: [{endpoints: [a:1, h:1]}, {endpoints: [a:2, g:1]}]\n");
    ASSERT_TRUE(found.topology) << kind;
    EXPECT_THAT(names_by_use(*found.topology), ElementsAre(Pair("host", "h g"), Pair("tor", "a"))) << kind;
  }
  const Imported generator = read(
      "topology: {nodes: {a: {kind: keysight_ixia-c-one}, s: {kind: srl}, t: {kind: srl}}, links: [{endpoints: [a:1, "
      "s:1]}, {endpoints: [a:2, t:1]}]}\n");
  ASSERT_TRUE(generator.topology);
  EXPECT_EQ(names_by_use(*generator.topology)["host"], "a") << "a generator of traffic, however many ports it has";
  for (const char* kind : {"paloalto_panos", "checkpoint_cloudguard", "fortinet_fortigate", "host", "sonic", "srl2"}) {
    EXPECT_FALSE(read("topology:\n  nodes: {a: {kind: " + std::string(kind) +
                      "}, h: {kind: linux}}\n  links: [{endpoints: [a:1, h:1]}]\n")
                     .topology)
        << kind;
  }
}

}  // namespace
}  // namespace softspine::control
