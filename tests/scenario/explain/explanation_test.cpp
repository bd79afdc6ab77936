// SPDX-License-Identifier: Apache-2.0
// What `explain` says of a way, word by word. The hash is the XOR of the source port's two bytes with nothing, so it is
// the port: 0xc001 chooses link 1 of four, 0xc006 link 2.
#include "analysis/explain/explanation.hpp"

#include <gtest/gtest.h>

#include "analysis/explain/probe.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis {
namespace {

// From the first host to one at the other ToR, over four spines.
class Explanation : public testing::Test {
 protected:
  struct Explained {
    control::Json json;
    std::string text;
  };
  static std::string with_hash(const std::string& more, const std::string& hash = "") {
    return "profiles: {default: {hash: {algorithm: XOR, fields: [L4_SRC_PORT]" + hash + "}" + more + "}}\n";
  }
  // The links down are those that `down` names by their first ends.
  static Explained explained(const std::string& more, const Probe& wanted, const std::string& down = "",
                             const std::string& fabric = "hosts_per_tor: 1") {
    const auto testbed =
        control::parse_testbed("name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 4, " + fabric +
                                   ", host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n" + more,
                               "test.yaml");
    if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
    const std::vector<bool> all(testbed->fabric.links.size(), true);
    std::vector<bool> up = all;
    for (size_t link = 0; link < up.size(); ++link) {
      if (testbed->fabric.name_of(testbed->fabric.links[link].a) == down) up[link] = false;
    }
    Walker walker(*testbed, all, up);
    Probe probe = wanted;
    probe.from = node_of(testbed->fabric, "h1");
    probe.to = node_of(testbed->fabric, testbed->fabric.nodes.size() < 10 ? "h2" : "h8");
    const control::LinkEnd sender{probe.from, 0};
    const auto frame = frame_of(testbed->fabric, probe, walker.router_mac(testbed->fabric.peer_of(sender).node));
    const Path path = walker.walk(frame, static_cast<uint32_t>(frame.size()), sender);
    return {path_json(walker, path), path_text(walker, path)};
  }
  static uint32_t node_of(const control::Fabric& fabric, const std::string& name) {
    return static_cast<uint32_t>(std::ranges::find(fabric.nodes, name, &control::FabricNode::name) -
                                 fabric.nodes.begin());
  }
  static control::Json hop(const Explained& it, size_t number) { return it.json["hops"].at(number); }
  static std::string first_lines(const Explained& it, int lines) {
    size_t at = 0;
    while (lines-- > 0) at = it.text.find('\n', at) + 1;
    return it.text.substr(0, at);
  }
};

TEST_F(Explanation, OfAHashHasItsKeyItsValueAndItsBucket) {
  const Explained it = explained(with_hash(""), {.source_port = 0xc006});
  EXPECT_EQ(hop(it, 0),
            control::Json::parse(R"({"switch": "tor1", "role": "tor", "in_port": "Ethernet0", "route": "group",
      "mode": "hash", "buckets": 4, "hash": {"model": "SAI", "algorithm": "XOR", "seed": 0, "offset": 0,
      "key": "c006000000000000", "fields": [{"field": "L4_SRC_PORT", "bytes": "c006"}], "bits": 16, "before_offset": "0xc006",
      "hash": "0xc006"}, "bucket": 2, "out_port": "Ethernet12", "to": "spine3"})"));
  EXPECT_EQ(hop(it, 1)["route"], "next hop");
  EXPECT_EQ(hop(it, 1)["role"], "aggregation");
  EXPECT_FALSE(hop(it, 1).contains("hash"));
  EXPECT_EQ(it.json["hops"].size(), 3u);
  EXPECT_EQ(it.json["end"], "host");
  EXPECT_EQ(it.json["at"], "h2");
  EXPECT_FALSE(it.json.contains("reason"));
  EXPECT_EQ(it.text,
            "tor1         Ethernet0 → Ethernet12 (spine3)\n"
            "    XOR(seed 0, offset 0) = 0xc006, mod 4 = 2\n"
            "    key c006000000000000: L4_SRC_PORT c006\n"
            "spine3       Ethernet0 → Ethernet4 (tor2)\n"
            "    the only way\n"
            "tor2         Ethernet12 → Ethernet0 (h2)\n"
            "    the only way\n"
            "arrives at h2\n");
}

// Rotated by four of its 16 bits to the right 0xc006 is 0x6c00, whose last two bits are none.
TEST_F(Explanation, OfAnOffsetHasTheHashBeforeAndBehindIt) {
  const Explained it = explained(with_hash("", ", offset: 4"), {.source_port = 0xc006});
  EXPECT_EQ(hop(it, 0)["hash"]["before_offset"], "0xc006");
  EXPECT_EQ(hop(it, 0)["hash"]["hash"], "0x6c00");
  EXPECT_EQ(hop(it, 0)["bucket"], 0);
  EXPECT_EQ(first_lines(it, 2),
            "tor1         Ethernet0 → Ethernet4 (spine1)\n"
            "    XOR(seed 0, offset 4) = 0xc006 ⟳ 4 = 0x6c00, mod 4 = 0\n");
}

TEST_F(Explanation, OfAPacketWithoutLayer4SaysWhatIsAbsent) {
  const Explained it = explained(with_hash(""), {.protocol = 132, .source_port = 0xc006});
  EXPECT_EQ(hop(it, 0)["hash"]["layer3_only"], true);
  EXPECT_EQ(hop(it, 0)["hash"]["fields"],
            control::Json::parse(R"([{"field": "L4_SRC_PORT", "bytes": "0000", "absent": true}])"));
  EXPECT_EQ(hop(it, 0)["bucket"], 0) << "zeros stand for the port";
  EXPECT_NE(
      it.text.find(
          "    key 0000000000000000: L4_SRC_PORT absent\n    no layer 4: a fragment, or neither UDP nor TCP; hashed "
          "by what is left\n"),
      std::string::npos)
      << it.text;
  EXPECT_FALSE(hop(explained(with_hash(""), {}), 0)["hash"].contains("layer3_only"));
}

TEST_F(Explanation, OfWhatIsDrawnNamesAllThatItIsDrawnAmong) {
  for (const auto& [mode, words] :
       {std::pair<std::string, std::string>{"spray", "drawn: spray"}, {"flowlet, gap: 10us", "drawn: flowlet"}}) {
    const Explained it = explained(with_hash(", groups: {mode: " + mode + "}"), {});
    EXPECT_EQ(hop(it, 0)["drawn_among"],
              control::Json::parse(R"(["Ethernet4", "Ethernet8", "Ethernet12", "Ethernet16"])"));
    EXPECT_FALSE(hop(it, 0).contains("out_port"));
    EXPECT_FALSE(hop(it, 0).contains("bucket"));
    EXPECT_EQ(hop(it, 0).contains("hash"), mode != "spray") << "by whose value flowlets are told apart";
    EXPECT_EQ(first_lines(it, 2),
              "tor1         Ethernet0 → Ethernet4 (spine1) or Ethernet8 (spine2) or Ethernet12 (spine3) or Ethernet16 "
              "(spine4)\n    " +
                  words + "\n");
  }
  const Explained random = explained("profiles: {default: {hash: {algorithm: RANDOM}}}\n", {});
  EXPECT_NE(random.text.find("\n    drawn for each packet\n"), std::string::npos) << random.text;
  EXPECT_FALSE(hop(random, 0)["hash"].contains("bits"));
}

// Ethernet0 is port 0: of four links the first.
TEST_F(Explanation, OfAGroupByTheIngressPortHasThePortsNumber) {
  const Explained it = explained(with_hash(", groups: {mode: in_port}"), {.source_port = 0xc006});
  EXPECT_EQ(hop(it, 0)["mode"], "in_port");
  EXPECT_EQ(hop(it, 0)["bucket"], 0);
  EXPECT_FALSE(hop(it, 0).contains("hash"));
  EXPECT_EQ(first_lines(it, 2), "tor1         Ethernet0 → Ethernet4 (spine1)\n    in_port 0 mod 4 = 0\n");
}

TEST_F(Explanation, OfASliceOrAnOverrideSaysWhoseItIs) {
  const Explained slice =
      explained(with_hash(", groups: {mode: pinned}"), {.source_port = 0xc006}, "", "hosts_per_tor: 4");
  EXPECT_EQ(hop(slice, 0)["route"], "pinned");
  EXPECT_NE(slice.text.find("\n    pinned by the destination's slice\n"), std::string::npos) << slice.text;
  const std::string override = "overrides: [{at: tor1, to: h2, via: spine4}]\n";
  const Explained sent = explained(with_hash("") + override, {.source_port = 0xc006});
  EXPECT_EQ(hop(sent, 0)["route"], "override");
  EXPECT_EQ(hop(sent, 0)["override"], control::Json::parse(R"({"from": "Ethernet0", "to": "10.0.2.2/32", "via":
      "Ethernet16", "line": 4})"));
  EXPECT_EQ(first_lines(sent, 2),
            "tor1         Ethernet0 → Ethernet16 (spine4)\n    override: from Ethernet0 to 10.0.2.2/32, line 4\n");
  const Explained fallen = explained(with_hash("") + override, {.source_port = 0xc006}, "tor1:Ethernet16");
  EXPECT_EQ(hop(fallen, 0)["override"]["falls_back"], "its link is down");
  EXPECT_EQ(hop(fallen, 0)["route"], "group");
  EXPECT_EQ(hop(fallen, 0)["out_port"], "Ethernet12");
  EXPECT_NE(
      fallen.text.find("    falls back from the override from Ethernet0 to 10.0.2.2/32, line 4: its link is down\n"),
      std::string::npos)
      << fallen.text;
}

// Three spines by two links each and one by a LAG are seven ways: 0xc006 is 4 modulo 7, the LAG behind two pairs.
// Rotated by one it is 0x6003, an odd number: the second of two members.
TEST_F(Explanation, OfALagHasItsNameAndItsMembersBucket) {
  const Explained it = explained(
      "profiles: {default: {hash: {algorithm: XOR, fields: [L4_SRC_PORT]}, lag_hash: {offset: 1}}}\n"
      "topology: {lags: [{name: bundle, between: [tor1, spine3]}]}\n",
      {.source_port = 0xc006}, "", "hosts_per_tor: 1, links_per_spine: 2");
  EXPECT_EQ(hop(it, 0)["buckets"], 7);
  EXPECT_EQ(hop(it, 0)["bucket"], 4);
  const control::Json lag = hop(it, 0)["lag"];
  EXPECT_EQ(lag["name"], "bundle");
  EXPECT_EQ(lag["members"], 2);
  EXPECT_EQ(lag["bucket"], 1);
  EXPECT_EQ(lag["hash"]["hash"], "0x6003");
  EXPECT_EQ(hop(it, 0)["out_port"], "Ethernet24");
  EXPECT_NE(it.text.find("    member of bundle: XOR(seed 0, offset 1) = 0xc006 ⟳ 1 = 0x6003, mod 2 = 1\n"),
            std::string::npos)
      << it.text;
}

TEST_F(Explanation, OfALinkThatTheRoutesDoNotKnowToBeDownEndsThere) {
  const Explained it = explained(with_hash(""), {.source_port = 0xc006}, "tor1:Ethernet12");
  EXPECT_EQ(it.json["end"], "link_down");
  EXPECT_EQ(it.json["at"], "tor1");
  EXPECT_TRUE(it.text.ends_with("is lost at tor1: the link is down, and the routes do not know yet\n")) << it.text;
}

TEST(HashWords, NameTheModelTheFunctionAndItsParameters) {
  EXPECT_EQ(hash_words({.algorithm = control::HashAlgorithm::kCrc, .seed = 3, .offset = 5}), "CRC(seed 3, offset 5)");
  EXPECT_EQ(
      hash_words({.model = control::HashModel::kRtag7, .algorithm = control::HashAlgorithm::kCrcCcitt, .seed = 3}),
      "RTAG7 CRC_CCITT(seed 3, offset 0)");
  EXPECT_EQ(hash_words({.model = control::HashModel::kLinux, .seed = 7, .linux_policy = 1}), "Linux policy 1(seed 7)");
  EXPECT_EQ(hash_words({.model = control::HashModel::kOvs, .algorithm = control::HashAlgorithm::kOvsL4, .seed = 9}),
            "OVS L4(basis 9)");
}

}  // namespace
}  // namespace softspine::analysis
