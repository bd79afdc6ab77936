// SPDX-License-Identifier: Apache-2.0
// Nodes, links, addresses and edges that a file names.
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::node_of;
using tests::read_well;
using tests::with_fabric;

// Two hosts and a switch, by name; takes lines 1 to 6, links from line 7 on.
std::string with_links(std::string_view rest) {
  return "name: t\n"
         "topology:\n"
         "  nodes:\n"
         "    a: {kind: host}\n"
         "    s: {kind: switch}\n"
         "  links:\n" +
         std::string(rest);
}

TEST(Links, JoinPortsByNameOrTheNextFreeOne) {
  const Testbed testbed =
      read_well(with_links("  - {endpoints: [a, s], rate: 1Gbps}\n"
                           "  - {endpoints: [\"s:Ethernet0\", a], rate: 2Gbps}\n"));
  const FabricNode& s = node_of(testbed, "s");
  ASSERT_EQ(s.ports.size(), 2u);
  EXPECT_EQ(s.ports[0].name, "Ethernet0");
  EXPECT_EQ(testbed.fabric.links[s.ports[0].link].rate, dataplane::Rate::gbps(2));
  EXPECT_EQ(s.ports[1].name, "Ethernet4");
  EXPECT_EQ(node_of(testbed, "a").ports[1].name, "eth1");
}

TEST(Links, RefuseANodeThatIsNotThere) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {links: [{endpoints: [tor9, spinel], rate: 1Gbps}]}\n")),
            (Complaints{"4 topology.links[0].endpoints[0]: there is no node 'tor9': did you mean 'tor1'?",
                        "4 topology.links[0].endpoints[1]: there is no node 'spinel': did you mean 'spine1'?"}));
}

TEST(Links, RefuseAPortThatIsTaken) {
  EXPECT_EQ(complaints_about(with_links("  - {endpoints: [a, \"s:Ethernet0\"], rate: 1Gbps}\n"
                                        "  - {endpoints: [\"s:Ethernet0\", a], rate: 1Gbps}\n")),
            (Complaints{"8 topology.links[1].endpoints[0]: the port s:Ethernet0 is taken by the link in line 7"}));
  EXPECT_EQ(complaints_about(with_fabric("topology: {links: [{endpoints: [\"tor1:Ethernet0\", tor2], rate: 1Gbps}]}")),
            (Complaints{"4 topology.links[0].endpoints[0]: the port tor1:Ethernet0 is taken by a generated link"}));
}

TEST(Links, RefuseANodeJoinedToItselfAndEndpointsThatAreNotTwo) {
  EXPECT_EQ(complaints_about(with_links("  - {endpoints: [a, s], rate: 1Gbps}\n"
                                        "  - {endpoints: [s, s], rate: 1Gbps}\n"
                                        "  - {endpoints: [s], rate: 1Gbps}\n"
                                        "  - {endpoints: [s, \"a:e th\"], rate: 1Gbps}\n")),
            (Complaints{"8 topology.links[1].endpoints: joins s to itself",
                        "9 topology.links[2].endpoints: a link has two endpoints, not 1",
                        "10 topology.links[3].endpoints[1]: expected NODE:PORT such as tor1:Ethernet0, found 'a:e "
                        "th'"}));
}

TEST(Nodes, NeedALink) {
  EXPECT_EQ(complaints_about(with_links("  []\n")),
            (Complaints{"4 topology.nodes.a: a has no link", "5 topology.nodes.s: s has no link"}));
}

TEST(Nodes, NeedAKindUnlessGenerated) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {}, x: {}}, links: [{endpoints: [x, tor1], rate: "
                                         "1Gbps}]}\n")),
            (Complaints{"4 topology.nodes.x: the key 'kind' is missing: switch or host"}));
}

TEST(Nodes, RefuseKeysOfTheOtherKind) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {kind: switch}\n"
                                         "    h2: {subnet: 10.9.0.0/24, role: core, profile: default}\n"
                                         "    tor1: {address: 10.0.1.9, mac: \"02:00:00:00:00:01\", guest: {}}\n")),
            (Complaints{"6 topology.nodes.h1.kind: the generated h1 is a host",
                        "7 topology.nodes.h2.subnet: is for switches, and h2 is a host",
                        "7 topology.nodes.h2.role: is for switches, and h2 is a host",
                        "7 topology.nodes.h2.profile: is for switches, and h2 is a host",
                        "8 topology.nodes.tor1.address: is for hosts, and tor1 is a switch",
                        "8 topology.nodes.tor1.mac: is for hosts, and tor1 is a switch",
                        "8 topology.nodes.tor1.guest: is for hosts, and tor1 is a switch"}));
}

TEST(Nodes, HaveAtMostOneThingBehindThem) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {guest: {}, namespace: {}}, h2: {edge: {}},\n"
                                         "  h3: {edge: {tap: {name: t}, dpdk: x}}}}\n")),
            (Complaints{"4 topology.nodes.h1: needs at most one of guest, namespace, verbs, edge",
                        "4 topology.nodes.h2.edge: needs exactly one of tap, af_packet, vhost_user, pcap, dpdk",
                        "5 topology.nodes.h3.edge: needs exactly one of tap, af_packet, vhost_user, pcap, dpdk"}));
  const std::string edge = "edge: {tap: {name: t}}";
  for (const std::string& two : {"guest: {}, " + edge, "namespace: {}, " + edge, "guest: {}, namespace: {}, " + edge,
                                 std::string("verbs: {}, guest: {}")}) {
    EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {" + two + "}}}\n")),
              (Complaints{"4 topology.nodes.h1: needs at most one of guest, namespace, verbs, edge"}));
  }
}

TEST(Nodes, ThatAreVerbsHostsAreHostsAndMayHaveTwoLinks) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n  nodes: {h1: {verbs: {run: x}}, tor1: {verbs: {}}}\n"
                                         "  links: [{endpoints: [h1, tor2], rate: 10Gbps}]\n")),
            (Complaints{"5 topology.nodes.tor1.verbs: is for hosts, and tor1 is a switch"}));
}

TEST(Nodes, JoinNamespacesByOneLinkAFileAndAName) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {namespace: {join: /run/netns/web}}\n"
                                         "    h2: {namespace: {join: 4711, interface: fifteen-letters}}\n")),
            Complaints{});
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {namespace: {join: web}}\n"
                                         "    h2: {namespace: {interface: rail0}}\n"
                                         "    h3: {namespace: {join: /run/netns/web, interface: sixteen--letters}}\n"
                                         "    h4: {namespace: {join: 7, interface: ..}}\n")),
            (Complaints{"6 topology.nodes.h1.namespace.join: 'web' is neither the path of a file, such as "
                        "/run/netns/web, nor the number of a process",
                        "7 topology.nodes.h2.namespace.interface: is for a namespace that exists already, and there is "
                        "no 'join'",
                        "8 topology.nodes.h3.namespace.interface: 'sixteen--letters' is no interface name: at most 15 "
                        "characters, no space, '/' or ':'",
                        "9 topology.nodes.h4.namespace.interface: '..' is no interface name: at most 15 characters, no "
                        "space, '/' or ':'"}));
  EXPECT_EQ(complaints_about(with_fabric("topology:\n  nodes: {h4: {namespace: {join: 7}}}\n"
                                         "  links: [{endpoints: [h4, tor1], rate: 10Gbps}]\n")),
            Complaints{"5 topology.nodes.h4.namespace.join: a namespace that exists already joins by one link, and h4 "
                       "has 2"});
}

TEST(Addresses, RefuseOneThatIsGivenTwice) {
  EXPECT_EQ(
      complaints_about(with_fabric("topology:\n"
                                   "  nodes:\n"
                                   "    h1: {address: [10.0.1.7, \"fd00:0:0:1::7\"], mac: \"02:00:00:00:00:99\"}\n"
                                   "    h2: {address: [\"fd00:0:0:1::7\", 10.0.1.7], mac: \"02:00:00:00:00:99\"}"
                                   "\n")),
      (Complaints{"7 topology.nodes.h2.address[0]: fd00:0:0:1::7 is the address of h1 already",
                  "7 topology.nodes.h2.address[1]: 10.0.1.7 is the address of h1 already",
                  "7 topology.nodes.h2.mac: 02:00:00:00:00:99 is the address of h1 already"}));
}

TEST(Addresses, RefuseOneOutsideItsSubnetOrReserved) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {address: 10.9.9.9}\n"
                                         "    h2: {address: [10.0.1.1, 10.0.1.3]}\n"
                                         "    h3: {address: 10.0.2.255}\n"
                                         "    h4: {address: [10.0.2.9, 10.0.2.8]}\n")),
            (Complaints{"6 topology.nodes.h1.address: 10.9.9.9 is not in the subnet at tor1, 10.0.1.0/24: give the "
                        "switch its 'subnet'",
                        "7 topology.nodes.h2.address[0]: 10.0.1.1 is the subnet's gateway, network or broadcast "
                        "address",
                        "8 topology.nodes.h3.address: 10.0.2.255 is the subnet's gateway, network or broadcast "
                        "address",
                        "9 topology.nodes.h4.address[1]: a second IPv4 address: a host has one"}));
}

TEST(Addresses, RefuseWhatIsNone) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {address: 10.0.1.300}\n"
                                         "    h2: {address: 0.0.0.0}\n"
                                         "    h3: {mac: \"01:00:00:00:00:01\"}\n"
                                         "    tor1: {subnet: 10.1.1.1/24}\n"
                                         "    tor2: {subnet: 0.0.0.0/0}\n")),
            (Complaints{"6 topology.nodes.h1.address: expected an IPv4 or IPv6 address such as 10.0.1.10, found "
                        "'10.0.1.300'",
                        "7 topology.nodes.h2.address: expected an IPv4 or IPv6 address such as 10.0.1.10, found "
                        "'0.0.0.0'",
                        "8 topology.nodes.h3.mac: expected a unicast MAC address such as 02:00:00:00:00:01, found "
                        "'01:00:00:00:00:01'",
                        "9 topology.nodes.tor1.subnet: expected an IPv4 or IPv6 prefix without host bits such as "
                        "10.0.1.0/24, found '10.1.1.1/24'",
                        "10 topology.nodes.tor2.subnet: expected an IPv4 or IPv6 prefix without host bits such as "
                        "10.0.1.0/24, found '0.0.0.0/0'"}));
}

TEST(Addresses, RefuseSubnetsThatOverlapOrAreNoHosts) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    tor1: {subnet: 10.9.0.0/16}\n"
                                         "    tor2: {subnet: [10.9.4.0/24, \"fd00:0:0:7::/64\"]}\n"
                                         "    spine1: {subnet: 10.8.0.0/24}\n")),
            (Complaints{"7 topology.nodes.tor2.subnet[0]: 10.9.4.0/24 overlaps 10.9.0.0/16 in line 6",
                        "7 topology.nodes.tor2.subnet[1]: fd00:0:0:7::/64 overlaps fd00::/32 or fd00:ffff::/32, which "
                        "are planned from",
                        "8 topology.nodes.spine1.subnet: spine1 has no host that could be in it"}));
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {tor1: {subnet: 10.255.3.0/24}, tor2: {subnet: "
                                         "224.0.0.0/24}}}\n"))
                .size(),
            2u);
}

TEST(Addresses, RefuseASubnetThatIsTooSmall) {
  EXPECT_EQ(complaints_about("name: t\n"
                             "fabric: {kind: leaf-spine, tors: 1, spines: 0, hosts_per_tor: 2,\n"
                             "  host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\n"
                             "topology: {nodes: {tor1: {subnet: 10.9.0.0/30}}}\n"),
            (Complaints{"4 topology.nodes.tor1.subnet: 10.9.0.0/30 is too small for its 2 hosts"}));
}

TEST(Addresses, RefuseAMacThatIsPlannedForAnother) {
  const Testbed testbed = read_well(tests::kSmallFabric);
  const std::string taken = to_string(node_of(testbed, "spine1").ports[0].mac);
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {mac: \"" + taken + "\"}}}\n")),
            (Complaints{"4 topology.nodes.h1.mac: " + taken + " is the planned address of spine1"}));
}

TEST(Edges, RefuseWhatTwoHostsWouldUse) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {edge: {tap: {name: net0}}}\n"
                                         "    h2: {edge: {af_packet: {interface: net0}}}\n"
                                         "    h3: {edge: {vhost_user: {socket: a/b.sock}}}\n"
                                         "    h4: {edge: {vhost_user: {socket: a/./b.sock}}}\n")),
            (Complaints{"7 topology.nodes.h2.edge.af_packet.interface: 'net0' is used by h1 already",
                        "9 topology.nodes.h4.edge.vhost_user.socket: 'a/b.sock' is used by h3 already"}));
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {edge: {pcap: {in: x.pcap, out: y.pcap}}}\n"
                                         "    h2: {edge: {pcap: {in: x.pcap, out: y.pcap}}}\n"
                                         "    h3: {edge: {dpdk: \"net_memif0,id=1\"}}\n"
                                         "    h4: {edge: {dpdk: \"net_memif0,id=2\"}}\n")),
            (Complaints{"7 topology.nodes.h2.edge.pcap.out: 'y.pcap' is used by h1 already",
                        "9 topology.nodes.h4.edge.dpdk: 'net_memif0' is used by h3 already"}));
}

TEST(Edges, AnInterfaceAndAFileMayShareAName) {
  read_well(with_fabric("topology: {nodes: {h1: {edge: {tap: {name: x}}}, h2: {edge: {vhost_user: {socket: x}}}}}\n"));
}

TEST(Edges, AFileIsNotReadWhereItIsWritten) {
  EXPECT_EQ(complaints_about(with_fabric("topology:\n"
                                         "  nodes:\n"
                                         "    h1: {edge: {pcap: {in: x.pcap, out: x.pcap}}}\n")),
            (Complaints{"6 topology.nodes.h1.edge.pcap: would overwrite 'x.pcap' while it is read"}));
}

constexpr std::string_view kSecondLink = "  links: [{endpoints: [h1, tor2], rate: 1Gbps}]}\n";

TEST(Edges, AreOneForEachLink) {
  const auto host = [](const std::string& edges) {
    return with_fabric("topology: {nodes: {h1: {edge: " + edges + "}},\n" + std::string(kSecondLink));
  };
  EXPECT_EQ(complaints_about(host("{tap: {name: x}}")),
            (Complaints{"4 topology.nodes.h1.edge: a host has one edge for each of its links, and h1 has 1 edge and 2 "
                        "links"}));
  EXPECT_EQ(complaints_about(host("[{tap: {name: x}}, {tap: {name: x}}]")),
            (Complaints{"4 topology.nodes.h1.edge[1].tap.name: 'x' is used by h1 already"}));
  EXPECT_EQ(complaints_about(host("[{tap: {name: x}}, {}]")),
            (Complaints{"4 topology.nodes.h1.edge[1]: needs exactly one of tap, af_packet, vhost_user, pcap, dpdk"}));
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {edge: []}}}\n")),
            (Complaints{"4 topology.nodes.h1.edge: a host has one edge for each of its links, and h1 has 0 edges and 1 "
                        "link"}));
  const Testbed testbed = read_well(host("[{pcap: {in: a.pcap}}, {tap: {name: x}}]"));
  const auto& edges = std::get<EdgeHost>(node_of(testbed, "h1").attachment).edges;
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_EQ(std::get<PcapEdge>(edges[0]).in, "a.pcap");
  EXPECT_EQ(std::get<TapEdge>(edges[1]).name, "x") << "in the order of the links";
}

TEST(Edges, OfAFileAloneRunOnEitherClock) {
  const auto on_virtual_clock = [](const std::string& edges) {
    return complaints_about(with_fabric("run: {clock: virtual}\ntopology: {nodes: {h1: {edge: " + edges + "}},\n" +
                                        std::string(kSecondLink)))
        .size();
  };
  EXPECT_EQ(on_virtual_clock("[{pcap: {in: a}}, {pcap: {in: b}}]"), 0u);
  EXPECT_EQ(on_virtual_clock("[{pcap: {in: a}}, {tap: {name: x}}]"), 1u);
}

TEST(Edges, LeaveTheirBondToWhatIsBehindThem) {
  const auto bond = [](const std::string& keys) {
    return with_fabric("topology: {nodes: {h1: {edge: [{tap: {name: x}}, {tap: {name: y}}], bond: {" + keys + "}}},\n" +
                       std::string(kSecondLink));
  };
  const Testbed testbed = read_well(bond("mode: balance-xor, remote_failover: none"));
  EXPECT_EQ(node_of(testbed, "h1").bond.mode, BondMode::kBalanceXor);
  EXPECT_FALSE(node_of(testbed, "h1").bond.is_routed_around());
  for (const auto* key :
       {"xmit_hash_policy: layer2", "miimon: 1ms", "downdelay: 100ms", "updelay: 100ms", "path_change_after: 3"}) {
    const std::string text = key;
    EXPECT_EQ(complaints_about(bond("mode: balance-xor, " + text)),
              (Complaints{"4 topology.nodes.h1.bond." + text.substr(0, text.find(':')) +
                          ": is decided by what is behind the edges of h1"}));
  }
  EXPECT_EQ(complaints_about(bond("mode: lacp")),
            (Complaints{"4 topology.nodes.h1.bond: needs links of one rate: LACP aggregates no others"}));
}

TEST(Edges, RefuseNamesThatLinuxRefuses) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {nodes: {h1: {edge: {tap: {name: abcdefghijklmnop}}},\n"
                                         "  h2: {edge: {af_packet: {interface: a/b}}},\n"
                                         "  h3: {edge: {vhost_user: {socket: \"\"}}}, h4: {edge: {dpdk: \"\"}}}}\n"))
                .size(),
            4u);
}

TEST(Hosts, LinkedToAHostHaveNoOtherLink) {
  EXPECT_EQ(complaints_about(with_fabric("topology: {links: [{endpoints: [h1, h2], rate: 1Gbps}]}\n")).size(), 2u);
}

}  // namespace
}  // namespace softspine::control
