// SPDX-License-Identifier: Apache-2.0
// Several fabrics in one testbed: names, servers that have NICs in several, and no way between them.
#include <gtest/gtest.h>

#include "control/compile/review.hpp"
#include "tests/unit/topology/fabric_checks.hpp"
#include "tests/unit/topology/graph_oracle.hpp"

namespace softspine::control {
namespace {

constexpr const char* kBoth =
    "fabrics:\n"
    "  back: {kind: hpn, segments: 2, servers_per_segment: 3, rails: 2, aggregations_per_plane: 2, host_link: &l "
    "{rate: "
    "100Gbps}, fabric_link: *l}\n"
    "  front: {kind: front-end, segments: 2, servers_per_segment: 2, aggregations: 2, servers_of: back, host_link: *l, "
    "fabric_link: *l}\n";

TEST(SeveralFabrics, ArePutTogetherUnderTheirNames) {
  const Fabric both = tests::testbed_of(kBoth).fabric;
  tests::check_wiring(both);
  tests::check_addresses(both);
  EXPECT_EQ(tests::neighbours(both, "back-s1-h1-nic2"),
            (std::vector<std::string>{"back-s1-r2-tor1", "back-s1-r2-tor2"}));
  EXPECT_EQ(tests::neighbours(both, "front-s2-h1"), (std::vector<std::string>{"front-s2-tor1", "front-s2-tor2"}));
  const auto found = tests::GraphOracle(both).reachable(tests::node_at(both, "back-s1-h1-nic1"));
  for (uint32_t n = 0; n < both.nodes.size(); ++n)
    EXPECT_EQ(found.contains(n), both.nodes[n].name.starts_with("back-")) << both.nodes[n].name;
}

TEST(SeveralFabrics, ShareTheirServersInOrder) {
  const Fabric both = tests::testbed_of(kBoth).fabric;
  const std::vector<std::pair<const char*, const char*>> expected{{"front-s1-h1", "back-s1-h1"},
                                                                  {"front-s1-h2", "back-s1-h2"},
                                                                  {"front-s2-h1", "back-s1-h3"},
                                                                  {"front-s2-h2", "back-s2-h1"}};
  for (const auto& [host, server] : expected) EXPECT_EQ(both.nodes[tests::node_at(both, host)].server, server);
  EXPECT_EQ(both.nodes[tests::node_at(both, "front-s1-h1")].rail, 0u) << "rails are the back-end's";
  EXPECT_EQ(std::ranges::count(both.nodes, "back-s1-h1", &FabricNode::server), 3) << "two rails, and the front-end";
}

std::string why_not(const std::string& rest) {
  const auto testbed = parse_testbed("name: t\n" + rest, "t.yaml");
  if (testbed) return "";
  EXPECT_EQ(testbed.error().size(), 1u) << rest;
  return to_string(testbed.error().at(0));
}

TEST(SeveralFabrics, SayWhatDoesNotFit) {
  const std::string star = "{kind: star, hosts: 2, host_link: {rate: 1Gbps}";
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(why_not("fabrics: {a: " + star + ", servers_of: bb}, b: " + star + "}}\n"),
                  "there is no fabric 'bb': did you mean 'b'?"));
  EXPECT_TRUE(has(why_not("fabrics: {a: " + star + ", servers_of: a}}\n"), "is this fabric itself"));
  EXPECT_TRUE(
      has(why_not("fabrics: {a: {kind: star, hosts: 3, host_link: {rate: 1Gbps}, servers_of: b}, b: " + star + "}}\n"),
          "a has 3 servers, and b only 2"));
  EXPECT_TRUE(has(why_not("fabric: " + star + "}\nfabrics: {a: " + star + "}}\n"), "stands beside 'fabric'"));
  EXPECT_TRUE(has(why_not("fabric: " + star + ", servers_of: a}\n"), "is for one of several 'fabrics'"));
  EXPECT_TRUE(has(why_not("fabric: {kind: star, hosts: x, host_link: {rate: 1Gbps}, servers_of: a}\n"), "hosts"))
      << "of one that cannot be read nothing more is said";
  EXPECT_TRUE(has(why_not("fabrics: {abcdefghijklmnopqrstuvwxyz: " + star + "}}\n"), "at most 24"));
  const std::string hpn =
      "{kind: hpn, segments: 1, servers_per_segment: 1, aggregations_per_plane: 1, host_link: {rate: "
      "1Gbps}, fabric_link: {rate: 1Gbps}";
  EXPECT_TRUE(has(why_not("fabrics: {a: " + hpn + ", pods: 2}, a-pod1: " + hpn + "}}\n"),
                  "has a node a-pod1-s1-r1-tor1, and so has another fabric"));
  EXPECT_TRUE(has(why_not("run: {seed: 1}\n"), "'fabric', 'fabrics' or 'topology' is missing"));
}

TEST(SeveralFabrics, HaveNoWayToEachOther) {
  const auto testbed =
      parse_testbed("name: t\n" + std::string(kBoth) +
                        "workload: [{name: w, pattern: pairs, from: back-s1-h1-nic1, to: front-s1-h1}]\n",
                    "t.yaml");
  ASSERT_TRUE(testbed);
  const Errors errors = review(*testbed).errors;
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].message.find("back-s1-h1-nic1 has no way to front-s1-h1"), std::string::npos);
}

}  // namespace
}  // namespace softspine::control
