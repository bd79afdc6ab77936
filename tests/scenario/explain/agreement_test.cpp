// SPDX-License-Identifier: Apache-2.0
// What explain says and what happens: a hundred thousand random packets through each testbed that we ship, before,
// during and after failures, hop by hop. Also through fabrics that hash by everything there is.
#include <filesystem>

#include "analysis/explain/probe.hpp"
#include "analysis/explain/walker.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/explain/driven_fabric.hpp"

namespace softspine::tests {
namespace {

using analysis::PathEnd;
using analysis::Probe;
using analysis::Walker;
using control::LinkEnd;
using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rng;
namespace ipv4 = dataplane::ipv4;

constexpr Duration kEvery = Duration::us(50);  // a batch
constexpr uint32_t kBatch = 32;
constexpr Duration kQuiet = Duration::ms(2);
constexpr Duration kConvergence = Duration::ms(1'000);

// VXLAN with an IPv4 packet inside, instead of what the UDP packet has behind its header.
void put_tunnel(Rng& rng, bool is_ipv6, std::vector<uint8_t>& frame) {
  const size_t l3_bytes = is_ipv6 ? 40 : 20;
  std::vector<uint8_t> inside(8 + 14 + 20 + 8);
  for (uint8_t& byte : inside) byte = static_cast<uint8_t>(rng.next());
  inside[0] = 0x08;
  dataplane::store16(inside.data() + 8 + 12, 0x0800);
  inside[8 + 14] = 0x45;
  dataplane::store16(inside.data() + 8 + 14 + 6, 0);
  inside[8 + 14 + 9] = 17;
  frame.resize(14 + l3_bytes + 8);
  frame.insert(frame.end(), inside.begin(), inside.end());
  uint8_t* l3 = frame.data() + 14;
  dataplane::store16(l3 + l3_bytes + 2, 4789);
  const auto behind = static_cast<uint16_t>(8 + inside.size());
  if (is_ipv6) return dataplane::store16(l3 + 4, behind);
  dataplane::store16(l3 + 2, static_cast<uint16_t>(l3_bytes + behind));
  dataplane::store16(l3 + ipv4::kChecksum, 0);
  dataplane::store16(l3 + ipv4::kChecksum, dataplane::ipv4_checksum(l3, 20));
}

// RoCEv2, other UDP, TCP, no layer 4, fragments, VXLAN; IPv4 and IPv6; few or many source ports.
std::vector<uint8_t> random_frame(Rng& rng, const control::Fabric& fabric, Probe& probe,
                                  const dataplane::MacAddress& gateway) {
  static constexpr uint8_t kProtocols[] = {17, 17, 17, 6, 132};
  probe.protocol = kProtocols[rng.below(std::size(kProtocols))];
  probe.source_port = static_cast<uint16_t>(rng.below(4) == 0 ? 49'152 : rng.next());
  probe.destination_port = static_cast<uint16_t>(rng.below(4) == 0 ? rng.next() : 4791);
  probe.qp = static_cast<uint32_t>(rng.next() & 0xffffff);
  probe.opcode = static_cast<uint8_t>(rng.next());
  probe.is_ipv6 = rng.below(3) == 0;
  probe.flow_label = static_cast<uint32_t>(rng.next());
  std::vector<uint8_t> frame = frame_of(fabric, probe, gateway);
  uint8_t* l3 = frame.data() + 14;
  if (!probe.is_ipv6 && rng.below(8) == 0) {
    dataplane::store16(l3 + ipv4::kFragment, rng.below(2) == 0 ? 0x2000 : 0x0100);
    dataplane::store16(l3 + ipv4::kChecksum, 0);
    dataplane::store16(l3 + ipv4::kChecksum, dataplane::ipv4_checksum(l3, 20));
  } else if (probe.protocol == 17 && rng.below(8) == 0) {
    put_tunnel(rng, probe.is_ipv6, frame);
  }
  return frame;
}

// By the bytes: UDP or TCP, whole.
bool has_layer4(const std::vector<uint8_t>& frame) {
  const uint8_t* l3 = frame.data() + 14;
  const bool is_ipv4 = dataplane::load16(frame.data() + 12) == 0x0800;
  const uint8_t protocol = is_ipv4 ? l3[9] : l3[6];
  const bool is_fragment = is_ipv4 && (dataplane::load16(l3 + 6) & 0x3fff) != 0;
  return !is_fragment && (protocol == 6 || protocol == 17);
}

struct Sent {
  uint32_t number;
  LinkEnd host;
  std::vector<uint8_t> frame;
};

class Comparison {
 public:
  explicit Comparison(const control::Testbed& testbed, uint64_t stream)
      : fabric_(testbed),
        testbed_(testbed),
        compiler_(testbed),
        rng_(seed(), stream),
        up_(testbed.fabric.links.size(), true) {
    for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
      if (testbed.fabric.nodes[n].kind == control::NodeKind::kHost) hosts_.push_back(n);
    }
  }

  // Packets from now on; the routes follow `routed_`, the links are as in `up_`.
  void phase(uint32_t packets) {
    Phase& phase = phases_.emplace_back(Phase{routed_.empty() ? up_ : routed_, up_, {}});
    for (uint32_t i = 0; i < packets; ++i) {
      if (i % kBatch == 0) now_ = now_ + kEvery;
      Probe probe{.from = hosts_[rng_.below(hosts_.size())], .to = hosts_[rng_.below(hosts_.size())]};
      while (probe.to == probe.from) probe.to = hosts_[rng_.below(hosts_.size())];
      probe.port = static_cast<uint16_t>(rng_.below(testbed_.fabric.nodes[probe.from].ports.size()));
      const LinkEnd host{probe.from, probe.port};
      auto frame = random_frame(rng_, testbed_.fabric, probe, compiler_.router_mac(testbed_.fabric.peer_of(host).node));
      const uint32_t number = send(host, frame);
      phase.sent.push_back({number, host, std::move(frame)});
    }
    now_ = now_ + kQuiet;
  }
  // A link between switches changes; the routes do not follow before wait_for_routes().
  void change(uint32_t link, bool up) {
    if (routed_.empty()) routed_ = up_;
    up_[link] = up;
    fabric_.set_link(now_, link, up);
    changed_ = now_;
    now_ = now_ + kQuiet;
  }
  void wait_for_routes() {
    ASSERT_LT(now_, changed_ + kConvergence) << "too many packets before the routes follow";
    now_ = changed_ + kConvergence + kQuiet;
    routed_.clear();
  }
  std::vector<uint32_t> fabric_links() const {
    const control::Fabric& fabric = testbed_.fabric;
    const auto is_switch = [&](LinkEnd end) { return fabric.nodes[end.node].kind == control::NodeKind::kSwitch; };
    std::vector<uint32_t> among;
    for (uint32_t l = 0; l < fabric.links.size(); ++l) {
      if (is_switch(fabric.links[l].a) && is_switch(fabric.links[l].b)) among.push_back(l);
    }
    return among;
  }
  uint32_t random_fabric_link() {
    const std::vector<uint32_t> among = fabric_links();
    return among[rng_.below(among.size())];
  }

  void run_and_compare() {
    fabric_.run(now_ + kQuiet);
    for (const Phase& phase : phases_) {
      Walker walker{testbed_, phase.routed, phase.up};
      for (const Sent& sent : phase.sent) {
        compare(walker, phase, sent);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  uint64_t hops() const { return hops_; }
  uint64_t choices() const { return choices_; }
  uint64_t ended_at_dead_links() const { return dead_ends_; }

 private:
  struct Phase {
    std::vector<bool> routed;
    std::vector<bool> up;
    std::vector<Sent> sent;
  };

  // With the tag that the host's NIC would put on; what is asked about has none, as a probe.
  uint32_t send(LinkEnd host, std::vector<uint8_t>& frame) {
    const control::HostVlan& vlan = testbed_.fabric.nodes[host.node].vlan;
    if (!vlan.is_tagged) return fabric_.send(now_, host, frame);
    const auto tci = static_cast<uint16_t>(vlan.pcp.value_or(1) << 13 | vlan.id);  // AZURE has DSCP 26 in class 1
    const uint8_t tag[] = {0x81, 0x00, static_cast<uint8_t>(tci >> 8), static_cast<uint8_t>(tci)};
    frame.insert(frame.begin() + 12, std::begin(tag), std::end(tag));
    const uint32_t number = fabric_.send(now_, host, frame);
    frame.erase(frame.begin() + 12, frame.begin() + 16);
    return number;
  }

  // Along the way that the packet took; where it is drawn, any of those drawn among will do.
  void compare(Walker& walker, const Phase& phase, const Sent& sent) {
    const Way& way = fabric_.way(sent.number);
    const control::Fabric& fabric = testbed_.fabric;
    dataplane::ScratchPacket scratch;
    dataplane::Packet& packet = scratch.load(sent.frame, static_cast<uint32_t>(sent.frame.size()));
    LinkEnd at = fabric.peer_of(sent.host);
    bool is_drawn = false;
    for (size_t h = 0;; ++h) {
      const Walker::Step step = walker.step(at.node, at.port, packet);
      if (!step.hop) {  // no route is left
        ASSERT_EQ(step.end, PathEnd::kDropped) << fabric.nodes[at.node].name;
        ASSERT_EQ(way.size(), h);
        break;
      }
      ++hops_;
      choices_ += step.hop->choice.has_value();
      ASSERT_TRUE(!step.hop->choice || step.hop->choice->has_layer4 == has_layer4(sent.frame));
      is_drawn = is_drawn || step.hop->candidates.size() > 1;
      if (!phase.up[fabric.port({at.node, step.hop->out_port}).link] && step.hop->candidates.size() == 1) {
        ASSERT_EQ(way.size(), h) << "went on over a dead link";
        ++dead_ends_;
        break;
      }
      if (step.hop->candidates.size() > 1 && way.size() == h) break;  // drawn, and a dead link
      ASSERT_LT(h, way.size()) << "ended after " << h << " switches";
      ASSERT_EQ(way[h].node, at.node);
      ASSERT_TRUE(std::ranges::binary_search(step.hop->candidates, way[h].port))
          << fabric.name_of(way[h]) << " instead of port " << step.hop->out_port;
      at = fabric.peer_of(way[h]);
      if (fabric.nodes[at.node].kind == control::NodeKind::kHost) {
        ASSERT_EQ(way.size(), h + 1);
        break;
      }
      dataplane::store_mac(packet.data(), walker.router_mac(at.node));  // as whoever was drawn is addressed
    }
    if (!is_drawn) compare_walk(walker, sent, way);
  }
  void compare_walk(Walker& walker, const Sent& sent, const Way& way) {
    const analysis::Path path = walker.walk(sent.frame, static_cast<uint32_t>(sent.frame.size()), sent.host);
    const size_t over = path.end == PathEnd::kLinkDown ? 1 : 0;
    ASSERT_EQ(path.hops.size(), way.size() + over);
    for (size_t h = 0; h < way.size(); ++h) ASSERT_EQ((LinkEnd{path.hops[h].node, path.hops[h].out_port}), way[h]);
  }

  DrivenFabric fabric_;
  const control::Testbed& testbed_;
  control::Compiler compiler_;
  Rng rng_;
  std::vector<uint32_t> hosts_;
  std::vector<bool> up_;
  std::vector<bool> routed_;  // empty: as the links are
  Instant now_ = Instant::at(Duration::us(1));
  Instant changed_;
  std::vector<Phase> phases_;
  uint64_t hops_ = 0;
  uint64_t choices_ = 0;
  uint64_t dead_ends_ = 0;
};

void drive_through_failures(const control::Testbed& testbed, uint32_t packets, uint64_t stream) {
  Comparison comparison{testbed, stream};
  if (comparison.fabric_links().empty()) {  // one switch: nothing that could fail is on anybody's way
    comparison.phase(packets);
    comparison.run_and_compare();
    EXPECT_GT(comparison.hops(), 0u);  // not all reach each other in every testbed
    return;
  }
  comparison.phase(packets * 4 / 10);
  const uint32_t first = comparison.random_fabric_link();
  const uint32_t second = comparison.random_fabric_link();
  comparison.change(first, false);
  comparison.phase(packets / 10);
  comparison.wait_for_routes();
  comparison.phase(packets / 10);
  comparison.change(second, false);
  comparison.phase(packets / 10);
  comparison.wait_for_routes();
  comparison.phase(packets / 10);
  comparison.change(first, true);
  comparison.phase(packets / 10);
  comparison.wait_for_routes();
  comparison.phase(packets / 10);
  comparison.run_and_compare();
  EXPECT_GT(comparison.hops(), uint64_t{packets} / 4);  // not all reach each other in every testbed
  std::printf("%lu hops, %lu choices, %lu ended at a dead link\n", comparison.hops(), comparison.choices(),
              comparison.ended_at_dead_links());
}

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(source_root() / "testbeds")) {
    if (file.path().extension() == ".yaml") names.push_back(file.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class ShippedTestbeds : public testing::TestWithParam<std::string> {};

TEST_P(ShippedTestbeds, AreExplainedAsTheyAreForAHundredThousandPacketsThroughFailures) {
  const auto loaded = control::load_testbed(source_root() / "testbeds" / (GetParam() + ".yaml"));
  ASSERT_TRUE(loaded) << to_string(loaded.error().front());
  drive_through_failures(without_traffic(*loaded, kConvergence), to_repeat(100'000), 61);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedTestbeds, testing::ValuesIn(shipped_names()), [](const auto& it) {
  std::string name = it.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

// Every field, UDFs, tags, both models, all modes: what no shipped testbed has all of.
constexpr const char* kProfiles[] = {
    "{hash: {fields: [IN_PORT, SRC_MAC, DST_MAC, ETHERTYPE, VLAN_ID, SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, "
    "IP_PROTOCOL, "
    "RDMA_BTH_DEST_QP, RDMA_BTH_OPCODE, IPV6_FLOW_LABEL], algorithm: XXH3, seed: 7}}",
    "{hash: {model: RTAG7, algorithm: CRC_CCITT, seed: 99, offset: 3, udf: [{base: L4, offset: 13, length: 3, match: "
    "{l4_dst_port: 4791}}, {base: L3, offset: 8, length: 1, mask: 0f, match: {l2_type: 0x0800}}]}}",
    "{hash: {model: RTAG7, algorithm: CRC_ETHERNET_HI, seed: 5, rtag7: {a: {second: CRC_KOOPMAN_LO, pre_processing: "
    "true, "
    "equal_ports: [SRC_IP, DST_IP]}, b: {first: CRC_XOR2, second: CRC_32LO, fields: [SRC_IP, DST_IP, L4_SRC_PORT, "
    "RDMA_BTH_DEST_QP], seed: 6, low_ipv6: true, symmetric: true}, macro_flow: {algorithm: CRC, table: [{output: A0, "
    "offset: 1}, {output: B0, offset: 7}, {output: A1, offset: 11}, {output: B1, offset: 15}]}}}}",
    "{hash: {seed: 4, udf: [{base: L4, offset: 13, length: 3, match: {l4_dst_port: 4791}}, {base: L4, offset: 30, "
    "length: 16}]}}",
    "{hash: {algorithm: TOEPLITZ}, groups: {kind: resilient, buckets: 61}}",
    "{hash: {algorithm: XOR}, groups: {mode: in_port}}",
    "{hash: {algorithm: CRC_XOR, offset: 9}, groups: {mode: pinned}}",
    "{hash: {algorithm: CRC_32HI}, groups: {weights: {p1-agg1: 3, core2: 5}}}",
    "{hash: {algorithm: JENKINS_HI, seed: 3, fields: [SRC_IPV4, DST_IPV6, L4_SRC_PORT, RDMA_BTH_DEST_QP]}}",
    "{hash: {algorithm: XXH3, symmetric: true, fields: [INNER_SRC_MAC, INNER_DST_IP, INNER_SRC_IP, INNER_L4_SRC_PORT, "
    "SRC_IP, DST_IP, L4_SRC_PORT], fine_grained: [{field: INNER_L4_DST_PORT}, {field: L4_DST_PORT, sequence: 2}]}}",
    "{hash: {seed: 3, fine_grained: [{field: SRC_IPV4, mask: 255.255.0.255, sequence: 1}, {field: DST_IPV4, sequence: "
    "1}], fields: [IP_PROTOCOL], ipv4_rdma: {fields: [SRC_IP, RDMA_BTH_DEST_QP]}, ipv6: {fields: [IPV6_FLOW_LABEL]}, "
    "ipv6_rdma: {fields: [SRC_IP], udf: [{base: L4, offset: 13, length: 3, mask: 00ffff}]}}}",
    "{hash: {model: LINUX, policy: 0, seed: 5}}",
    "{hash: {model: LINUX, policy: 1, seed: 6}, groups: {weights: {p1-agg1: 3, core2: 5}}}",
    "{hash: {model: LINUX, policy: 2, seed: 7}}",
    "{hash: {model: LINUX, policy: 3, seed: 8, fields: [SRC_IP, IPV6_FLOW_LABEL, L4_SRC_PORT]}}",
    "{hash: {model: OVS}}",
    "{hash: {model: OVS, algorithm: L4, seed: 77}, groups: {weights: {p1-agg1: 3, core2: 5}}}",
    "{hash: {model: OVS, algorithm: L4_CRC32C, seed: 9}, groups: {kind: resilient}}",
    "{hash: {model: OVS, algorithm: SYM_L4_CRC32C, seed: 2}, groups: {mode: pinned}}",
    "{hash: {algorithm: CRC_ETHERNET_HI, seed: 2, offset: 3}}",
    "{hash: {algorithm: ROUND_ROBIN}}",
    "{hash: {algorithm: RANDOM}}",
    "{groups: {mode: flowlet, gap: 100us}}",
    "{hash: {algorithm: CRC_32LO}, groups: {mode: spray}}",
};

class Profiles : public testing::TestWithParam<const char*> {};

TEST_P(Profiles, AreExplainedAsTheyAre) {
  const std::string text = std::string(R"(
name: three-tiers
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles: {default: )") + GetParam() +
                           "}\n";
  const auto testbed = control::parse_testbed(text, "test.yaml");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  drive_through_failures(without_traffic(*testbed, kConvergence), to_repeat(20'000), 62);
}

INSTANTIATE_TEST_SUITE_P(All, Profiles, testing::ValuesIn(kProfiles));

// Hosts in two VLANs of each ToR, tagged and not, and in none that is said: their VLAN is in the key of the ToR's
// groups, and in that of its LAGs, however the packet leaves.
TEST(TaggedHosts, AreExplainedAsTheyAreThroughFailures) {
  for (const char* profile :
       {"{hash: {fields: [VLAN_ID]}}", "{hash: {fields: [VLAN_ID, DST_IP, L4_SRC_PORT], algorithm: XXH3}}",
        "{hash: {model: RTAG7, algorithm: CRC_CCITT, fields: [VLAN_ID, SRC_IP, L4_SRC_PORT], seed: 9}}",
        "{lag_hash: {fields: [VLAN_ID, ETHERTYPE, L4_SRC_PORT]}}",
        "{lag_hash: {udf: [{base: L2, offset: 12, length: 4}]}}"}) {
    const auto testbed = control::parse_testbed(std::string(R"(
name: tagged
fabric: {kind: leaf-spine, tors: 2, spines: 3, hosts_per_tor: 5, links_per_spine: 2, host_vlan: 100, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
topology:
  nodes:
    h2: {vlan: {id: 200, pcp: 3}}
    h3: {vlan: {id: 200, tagging_mode: untagged}}
    h4: {vlan: {id: 300, tagging_mode: untagged}}
    h6: {vlan: 4094}
    h7: {vlan: 1}
  lags:
    - {name: lag1, between: [tor1, spine1]}
    - {name: lag2, between: [tor2, spine1]}
profiles: {default: )") + profile + "}\n",
                                                "test.yaml");
    ASSERT_TRUE(testbed) << to_string(testbed.error().front());
    drive_through_failures(without_traffic(*testbed, kConvergence), to_repeat(20'000), 70);
  }
}

// At ToRs and spines, over hosts, racks and prefixes, and pinned routes below some of them: most packets meet one.
TEST(OverriddenFabric, IsExplainedAsItIsThroughFailures) {
  const auto testbed = control::parse_testbed(R"(
name: overridden
fabric: {kind: leaf-spine, tors: 4, spines: 3, hosts_per_tor: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
topology: {nodes: {tor2: {profile: pinned}}}
profiles: {default: {}, pinned: {groups: {mode: pinned}}}
overrides:
  - {at: tor1, to: [tor2, tor3, tor4], via: spine2}
  - {at: tor1, from: h1, to: [h5..h8, h13, h14], via: spine1}
  - {at: tor1, from: h2, to: 10.0.3.0/25, via: spine3}
  - {at: tor2, from: h5..h7, to: [h1..h3, h9, h10], via: spine1}
  - {at: tor2, from: h5, to: tor1, via: spine3}
  - {at: tor3, to: [h1, h5, h13], via: spine1}
)",
                                              "test.yaml");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  for (uint64_t stream = 63; stream < 69; ++stream) {  // other links fail
    drive_through_failures(without_traffic(*testbed, kConvergence), to_repeat(20'000), stream);
  }
}

// Two ways up for each ToR are LAGs of three links, one is a single link. One of the LAGs is no way without all of its
// members, the other one without two.
constexpr const char* kLagProfiles[] = {
    "{}",
    "{lag_hash: {offset: 8}}",
    "{hash: {algorithm: XXH3}, lag_hash: {seed: 7}}",
    "{lag_hash: {fields: [IN_PORT, SRC_MAC, DST_MAC, ETHERTYPE, VLAN_ID, SRC_IP, L4_SRC_PORT, IPV6_FLOW_LABEL]}}",
    "{lag_hash: {udf: [{base: L4, offset: 13, length: 3, match: {l4_dst_port: 4791}}]}}",
    "{lag_hash: {model: LINUX, policy: 1, seed: 3}}",
    "{lag_hash: {model: RTAG7, algorithm: CRC_CCITT, seed: 99, offset: 3}}",
    "{lag_hash: {algorithm: RANDOM}}",
    "{lag_hash: {algorithm: ROUND_ROBIN}}",
    "{hash: {algorithm: RANDOM}, lag_hash: {algorithm: CRC}}",
    "{groups: {kind: resilient, buckets: 61}, lag_hash: {algorithm: TOEPLITZ}}",
    "{groups: {weights: {spine1: 3, spine3: 5}}}",
    "{groups: {mode: pinned}}",
    "{groups: {mode: in_port}}",
    "{groups: {mode: spray}}",
};

class Lags : public testing::TestWithParam<const char*> {};

// Each ToR has LAGs of three links to spine1 and spine2.
std::string with_lags(const std::string& profile, const std::string& more = "") {
  std::string text = R"(
name: lags
fabric: {kind: leaf-spine, tors: 3, spines: 3, hosts_per_tor: 3, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles: {default: )" +
                     profile + "}\ntopology:\n  links:\n";
  std::string lags = "  lags:\n";
  for (const char* tor : {"tor1", "tor2", "tor3"}) {
    for (const char* spine : {"spine1", "spine2"}) {
      for (int parallel = 0; parallel < 2; ++parallel)
        text += std::string("    - {endpoints: [") + tor + ", " + spine + "], rate: 100Gbps, length: 40m}\n";
      lags += std::string("    - {name: ") + tor + "-" + spine + ", between: [" + spine + ", " + tor +
              "], min_links: " + (spine[5] == '1' ? "3}\n" : "2}\n");
    }
  }
  return text + lags + more;
}

TEST_P(Lags, AreExplainedAsTheyAre) {
  const auto testbed = control::parse_testbed(with_lags(GetParam()), "test.yaml");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  ASSERT_EQ(testbed->fabric.lags.size(), 6u);
  ASSERT_EQ(testbed->fabric.lags[0].links.size(), 3u);
  for (const uint64_t stream : {63, 64, 65})
    drive_through_failures(without_traffic(*testbed, kConvergence), to_repeat(20'000), stream);
}

INSTANTIATE_TEST_SUITE_P(All, Lags, testing::ValuesIn(kLagProfiles));

TEST(OverriddenLags, AreExplainedAsTheyAreThroughFailures) {
  const auto testbed = control::parse_testbed(with_lags("{lag_hash: {seed: 7}}", R"(
overrides:
  - {at: tor1, to: [tor2, tor3], via: tor1-spine2}
  - {at: tor1, from: h1, to: [h4, h5, h7, h8], via: spine1}
  - {at: tor2, from: h4..h6, to: [h1..h3], via: tor2-spine1}
  - {at: spine1, from: tor1-spine1, to: [h4, 10.0.2.0/25], via: tor2-spine1}
  - {at: spine2, from: tor2-spine2, to: tor1, via: tor1-spine2}
)"),
                                              "test.yaml");
  ASSERT_TRUE(testbed) << to_string(testbed.error().front());
  for (uint64_t stream = 66; stream < 70; ++stream)
    drive_through_failures(without_traffic(*testbed, kConvergence), to_repeat(20'000), stream);
}

}  // namespace
}  // namespace softspine::tests
