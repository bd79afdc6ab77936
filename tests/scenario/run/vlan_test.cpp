// SPDX-License-Identifier: Apache-2.0
// Tagged hosts: what four bytes a frame cost by arithmetic, what stands on the wire, whom they reach, and which class
// their packets get.
#include <algorithm>
#include <fstream>

#include "analysis/explain/probe.hpp"
#include "analysis/explain/walker.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// h1 and h2, a rack each. The links of the fabric are faster, so that only those of the hosts count.
std::string two_racks(const std::string& vlan, const std::string& more = "", const std::string& host_link = "") {
  return "name: vlan\nrun: {duration: 10ms}\n"
         "fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, " +
         vlan + "host_link: {rate: 100Gbps, length: 3m" + host_link +
         "}, fabric_link: {rate: 400Gbps, length: 40m}}\n"
         "workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 1, mtu: 4096, dscp: 3, "
         "ack_dscp: 3, transport: rc}]\n" +
         more;
}

const control::PortSnapshot& port_of(const Outcome& out, const std::string& node, const std::string& port) {
  const auto found = std::ranges::find(out.snapshot.switches, node, &control::SwitchSnapshot::name);
  return *std::ranges::find(found->ports, port, &control::PortSnapshot::name);
}
int64_t time_of(const Outcome& out, const char* key) {
  return out.report["flows"]["w"][key].get<int64_t>();
}
uint64_t dropped(const Outcome& out) {
  return out.report["totals"]["dropped_packets"].get<uint64_t>();
}
size_t count_of(const std::string& bytes, const std::string& what) {
  size_t out = 0;
  for (size_t at = bytes.find(what); at != std::string::npos; at = bytes.find(what, at + 1)) ++out;
  return out;
}
// A tag of VLAN 100 and the type of IPv4 behind it.
std::string tag(char first) {
  return {'\x81', '\x00', first, '\x64', '\x08', '\x00'};
}

constexpr uint64_t kPackets = 256;  // 1 MiB
constexpr int64_t kTagPs = 320;     // 4 bytes at 100 Gbit/s

// The tag is on the hosts' links: each of the n packets is longer by it on the first, the last one on its last link,
// too, and the acknowledgement that ends the message on its first and its last.
TEST(TaggedHosts, TakeFourBytesMoreAFrameOnTheirLinksAndNoneInTheFabric) {
  const Outcome plain = run_text(two_racks(""));
  const Outcome tagged = run_text(two_racks("host_vlan: 100, "));
  EXPECT_EQ(dropped(tagged), 0u);
  ASSERT_EQ(tagged.snapshot.flows[0].received_packets, kPackets);
  EXPECT_EQ(time_of(tagged, "fct_max_ps") - time_of(plain, "fct_max_ps"), (int64_t{kPackets} + 1) * kTagPs);
  EXPECT_EQ(time_of(tagged, "fct_acked_max_ps") - time_of(plain, "fct_acked_max_ps"), (int64_t{kPackets} + 3) * kTagPs);
  EXPECT_EQ(host_of(tagged, "h2").counters.received_bytes - host_of(plain, "h2").counters.received_bytes, kPackets * 4);
  const auto rx = [](const Outcome& out, const char* port) { return port_of(out, "tor2", port).counters.rx_bytes; };
  EXPECT_EQ(rx(tagged, "Ethernet4"), rx(plain, "Ethernet4"));
  const uint64_t answers = host_of(plain, "h2").counters.answers_sent;
  EXPECT_GT(answers, 0u);
  EXPECT_EQ(rx(tagged, "Ethernet0") - rx(plain, "Ethernet0"), answers * 4);
}

// A pace is one of all bits on the wire: with the tag a packet of 4,164 bytes is 4,168 long, beside 24 around it.
TEST(TaggedHosts, KeepAPaceThatCountsTheTag) {
  const auto paced = [](const std::string& vlan) {
    std::string text = two_racks(vlan);
    const std::string_view reliable = "ack_dscp: 3, transport: rc";
    text.replace(text.find(reliable), reliable.size(), "rate: 10Gbps");
    return run_text(text).snapshot.flows[0];
  };
  const control::FlowSnapshot tagged = paced("host_vlan: 100, ");
  const control::FlowSnapshot plain = paced("");
  ASSERT_EQ(tagged.received_packets, kPackets);
  const auto between = [](const control::FlowSnapshot& flow) { return flow.last_arrived - flow.first_sent; };
  // 255 intervals at the pace, and two links of a host.
  EXPECT_EQ((between(tagged) - between(plain)).count_ps(), int64_t{kPackets - 1} * 3'200 + 2 * kTagPs);
}

// 802.1Q with the VLAN and, as PCP, the class of DSCP 3: of data and acknowledgements, as they leave and as they come.
TEST(TaggedHosts, ShowTheirTagInCaptures) {
  const Outcome out = run_text(two_racks("host_vlan: 100, "), {}, true);
  const uint64_t frames = kPackets + host_of(out, "h2").counters.answers_sent;
  EXPECT_EQ(count_of(out.capture, tag('\x60')), 2 * frames);
  EXPECT_EQ(count_of(out.capture, tag('\x00')), 0u);
  const Outcome fixed = run_text(two_racks("host_vlan: {id: 100, pcp: 5}, "), {}, true);
  EXPECT_EQ(count_of(fixed.capture, tag('\xa0')), frames) << "the hosts' own; what comes has the class at the ToR";
  EXPECT_EQ(count_of(fixed.capture, tag('\x60')), frames);
}

// One ToR with VLAN 100, in which h3 is without a tag, VLAN 200, and a VLAN that the ToR numbers by itself: not 1000,
// since h5 is there.
TEST(TaggedHosts, ReachThoseOfTheirVlanAndOfOthers) {
  const Outcome out = run_text(R"(
name: vlans
run: {duration: 10ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 5, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
topology:
  nodes:
    h1: {vlan: 100}
    h2: {vlan: {id: 200, pcp: 7}}
    h3: {vlan: {id: 100, tagging_mode: untagged}}
    h5: {vlan: 1000}
    h6: {vlan: 100}
workload: [{name: w, pattern: all_to_all, message: 20KB, messages: 2, transport: rc}]
)");
  EXPECT_EQ(dropped(out), 0u);
  EXPECT_EQ(out.report["flows"]["w"]["completed"], 10 * 9);
}

// A ToR whose ports have a map of PCPs alone: the tag decides, at the queue by which a packet goes up. The spine has
// DSCPs, of which 3 is in class 3.
TEST(TaggedHosts, AreClassifiedByTheirPcpWhereItIsTrusted) {
  const auto by = [](const std::string& vlan, const std::string& maps) {
    const Outcome out = run_text(two_racks(vlan, "roles: {tor: mine}\nprofiles: {mine: {" + maps + "}}\n"));
    EXPECT_EQ(dropped(out), 0u);
    std::vector<uint64_t> sent;
    for (const auto& queue : port_of(out, "tor1", "Ethernet4").counters.queues) sent.push_back(queue.packets);
    return static_cast<size_t>(std::ranges::max_element(sent) - sent.begin());
  };
  const std::string pcp = "DOT1P_TO_TC_MAP: {P: {3: 4, 5: 2}}, PORT_QOS_MAP: {global: {dot1p_to_tc_map: P}}";
  const std::string both =
      "DSCP_TO_TC_MAP: {D: {3: 3}}, DOT1P_TO_TC_MAP: {P: {5: 2}}, "
      "PORT_QOS_MAP: {global: {dot1p_to_tc_map: P, dscp_to_tc_map: D}}";
  EXPECT_EQ(by("host_vlan: {id: 100, pcp: 5}, ", pcp), 2u);
  EXPECT_EQ(by("host_vlan: 100, ", pcp), 4u) << "PCP 3, as AZURE has DSCP 3";
  EXPECT_EQ(by("", pcp), 0u) << "no tag";
  EXPECT_EQ(by("host_vlan: {id: 100, pcp: 5}, ", both), 3u) << "IP goes by DSCP";
}

// Pauses have no tag, and stop packets that have one.
TEST(TaggedHosts, PauseAndArePaused) {
  const Outcome out = run_text(two_racks("host_vlan: 100, ", R"(
roles: {tor: lossless, aggregation: lossless}
faults: [{at: 0us, node: h2, set: slow_receiver, drain: 10Gbps, priorities: [3]}]
)"));
  EXPECT_EQ(dropped(out), 0u);
  EXPECT_EQ(out.snapshot.flows[0].received_packets, kPackets);
  EXPECT_GT(host_of(out, "h2").counters.pauses_sent, 0u);
}

// A ToR that has forgotten its hosts asks for them in the VLAN. The packet for which it asks is lost, and comes again
// after a timeout of 67 ms.
TEST(TaggedHosts, AnswerWhoAsksForThem) {
  const auto answered = [](const std::string& vlan) {
    std::string text = two_racks(vlan, "profiles: {default: {neighbours: {arp_timeout: 100ms}}}\n");
    text.replace(text.find("10ms"), 4, "500ms");
    text.insert(text.find("ack_dscp"), "start: 150ms, ");
    const Outcome out = run_text(text);
    EXPECT_EQ(out.report["flows"]["w"]["completed"], 1);
    return host_of(out, "h2").counters.answered;
  };
  EXPECT_GT(answered(""), 0u);
  EXPECT_GT(answered("host_vlan: 100, "), 0u);
}

// By credit, whose cells both ends of a link count, tag and all: a WRITE of 180 bytes is a frame of 254, one cell, and
// of 258, two cells, with the tag.
TEST(TaggedHosts, GoByCreditForEver) {
  const std::string credit = ", flow_control: credit, mtu: 4200";
  const std::string profiles =
      "roles: {tor: mine}\nprofiles: {mine: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: "
      "64KiB}}}}\n";
  std::string text = two_racks("host_vlan: 100, ", profiles, credit);
  text.replace(text.find("1MiB, messages: 1"), 17, "180B, messages: 20000");
  const Outcome out = run_text(text);
  EXPECT_EQ(dropped(out), 0u);
  EXPECT_EQ(out.snapshot.flows[0].received_packets, 20'000u);
}

// LACPDUs are the link's, and have no tag: else both ports would be lost after 90 s.
TEST(TaggedHosts, SpeakLacpBesideTheirVlan) {
  const Outcome out = run_text(R"(
name: bond
run: {duration: 130s}
fabric: {kind: hpn, segments: 1, servers_per_segment: 2, rails: 1, aggregations_per_plane: 1, planes: 1, cores: 0, host_vlan: 7,
  host_link: {rate: 100Gbps}, fabric_link: {rate: 400Gbps}, bond: {lacp_rate: fast}}
workload: [{name: w, pattern: pairs, from: [s1-h1-nic1], to: [s1-h2-nic1], message: 1024B, messages: 15000, mtu: 1024, rate: 1.122Mbps, start: 5s}]
)",
                               {.duration = dataplane::Duration::s(130)});
  EXPECT_EQ(dropped(out), 0u);
  ASSERT_EQ(out.snapshot.flows.size(), 1u);
  EXPECT_EQ(out.snapshot.flows[0].missing(), 0u);
  EXPECT_EQ(host_of(out, "s1-h1-nic1").counters.failovers, 0u);
  EXPECT_EQ(out.report["totals"]["route_changes"], 0);
}

// A nanosecond pcap file of frames, the first at 1 us, each 1 us after the one before.
std::string pcap_of(const std::vector<std::string>& frames) {
  const auto words = [](std::initializer_list<uint32_t> all) {
    return std::string(reinterpret_cast<const char*>(std::data(all)), all.size() * 4);
  };
  std::string out = words({0xa1b23c4d, 2 | 4U << 16, 0, 0, 65'535, 1});
  for (uint32_t i = 0; i < frames.size(); ++i) {
    const auto size = static_cast<uint32_t>(frames[i].size());
    out += words({0, (i + 1) * 1'000, size, size}) + frames[i];
  }
  return out;
}

// What stands behind an edge makes its tags itself. It asks for its gateway in VLAN 100 with PCP 5, without a tag, and
// in VLAN 101: one answer, in the VLAN, from the ToR.
TEST(TaggedHosts, BehindAnEdgeAreAnsweredInTheirVlan) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("softspine-vlan-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const control::Testbed testbed = testbed_of(
      "name: edge\nrun: {duration: 1ms}\n"
      "fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, "
      "fabric_link: {rate: 100Gbps}}\n"
      "topology: {nodes: {h1: {vlan: 100, edge: {pcap: {in: '" +
      (folder / "in.pcap").string() + "', out: '" + (folder / "out.pcap").string() + "'}}}}}\n");
  const auto mac_of = [&](const char* name) {
    const auto node = std::ranges::find(testbed.fabric.nodes, name, &control::FabricNode::name);
    return std::string(node->ports[0].mac.bytes.begin(), node->ports[0].mac.bytes.end());
  };
  const std::string gateway{10, 0, 1, 1};
  const std::string own{10, 0, 1, 2};
  const std::string asks = std::string("\x08\x06\x00\x01\x08\x00\x06\x04\x00", 9);
  const auto question = [&](const std::string& tag) {
    return std::string(6, '\xff') + mac_of("h1") + tag + asks + '\x01' + mac_of("h1") + own + std::string(6, '\0') +
           gateway + std::string(18, '\0');
  };
  const std::string good("\x81\x00\xa0\x64", 4);
  std::ofstream(folder / "in.pcap", std::ios::binary)
      << pcap_of({question(good), question(""), question(std::string("\x81\x00\x00\x65", 4))});
  const Outcome out = run_whole(testbed);
  EXPECT_EQ(out.report["totals"]["drops"]["vlan_not_allowed"], 2);
  EXPECT_EQ(out.report["edges"]["h1"]["out_packets"], 1);
  const std::string answer =
      mac_of("h1") + mac_of("tor1") + good + asks + '\x02' + mac_of("tor1") + gateway + mac_of("h1") + own;
  EXPECT_EQ(count_of(bytes_of(folder / "out.pcap"), answer), 1u);
  std::filesystem::remove_all(folder);
}

// XOR of one field is that field: the host's VLAN at its ToR, whether the tag says it or the port, and none behind it.
// Whom the file puts into none is in 1000, or what is free from there on.
TEST(TaggedHosts, AreHashedByTheirVlan) {
  const control::Testbed testbed = testbed_of(R"(
name: hashed
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
topology: {nodes: {h1: {vlan: 300}, h2: {vlan: {id: 77, tagging_mode: untagged}}, h3: {vlan: 1000}}}
profiles: {default: {hash: {algorithm: XOR, fields: [VLAN_ID]}}}
)");
  const std::vector<bool> up(testbed.fabric.links.size(), true);
  analysis::Walker walker{testbed, up, up};
  const auto index_of = [&](const char* name) {
    return static_cast<uint32_t>(std::ranges::find(testbed.fabric.nodes, name, &control::FabricNode::name) -
                                 testbed.fabric.nodes.begin());
  };
  for (const auto& [host, vlan] : {std::pair{"h1", 300u}, {"h2", 77u}, {"h3", 1000u}, {"h4", 1001u}, {"h5", 1000u}}) {
    const control::LinkEnd sender{index_of(host), 0};
    ASSERT_LT(sender.node, testbed.fabric.nodes.size());
    const analysis::Probe probe{.from = sender.node, .to = index_of("h16")};
    const auto frame = frame_of(testbed.fabric, probe, walker.router_mac(testbed.fabric.peer_of(sender).node));
    const analysis::Path path = walker.walk(frame, static_cast<uint32_t>(frame.size()), sender);
    ASSERT_EQ(path.end, analysis::PathEnd::kHost) << host;
    ASSERT_TRUE(path.hops.at(0).choice && path.hops.at(1).choice);
    EXPECT_EQ(path.hops[0].choice->raw, vlan) << host;
    EXPECT_EQ(path.hops[1].choice->raw, 0u) << host;
  }
}

}  // namespace
}  // namespace softspine::testbeds
