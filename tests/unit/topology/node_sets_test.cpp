// SPDX-License-Identifier: Apache-2.0
// Sets of nodes by name, against filters written out.
#include "control/topology/node_sets.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <set>

#include "control/topology/name_patterns.hpp"
#include "tests/unit/topology/fabric_checks.hpp"

namespace softspine::control {
namespace {

using Names = std::vector<std::string>;

const Fabric& fabric() {
  static const Fabric it = tests::testbed_of(
                               "fabric: {kind: hpn, segments: 2, servers_per_segment: 12, rails: 3, "
                               "aggregations_per_plane: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}")
                               .fabric;
  return it;
}

Names found(std::string_view text, Among among = Among::kHosts) {
  Names out;
  NodeSets sets(fabric());
  const NamedNodes it = sets.find(text, among);
  EXPECT_EQ(it.wrong.empty(), !it.nodes.empty()) << text;
  for (const uint32_t node : it.nodes) out.push_back(fabric().nodes[node].name);
  return out;
}

std::string wrong(std::string_view text) {
  NodeSets sets(fabric());
  return sets.find(text, Among::kHosts).wrong;
}

Names those(const std::function<bool(const FabricNode&)>& fits) {
  Names out;
  for (const FabricNode& node : fabric().nodes) {
    if (fits(node)) out.push_back(node.name);
  }
  return out;
}

TEST(NodeSet, OfARangeIsInTheRangesOrder) {
  EXPECT_EQ(found("s1-h9-nic2..s1-h11-nic2"), (Names{"s1-h9-nic2", "s1-h10-nic2", "s1-h11-nic2"}));
  EXPECT_EQ(found("s2-h1-nic3..s2-h1-nic1"), (Names{"s2-h1-nic3", "s2-h1-nic2", "s2-h1-nic1"}));
  EXPECT_EQ(found("s1-h12-nic1..s2-h12-nic1"), (Names{"s1-h12-nic1", "s2-h12-nic1"}));
  EXPECT_EQ(found("s1-h2-nic1..s1-h2-nic1"), (Names{"s1-h2-nic1"}));
}

TEST(NodeSet, OfARailIsANicOfEveryServer) {
  for (const char* rail : {"1", "2", "3"}) {
    const Names expected = those([&](const FabricNode& n) { return n.name.ends_with(std::string("-nic") + rail); });
    EXPECT_EQ(expected.size(), 24u);
    EXPECT_EQ(found(std::string("rail ") + rail), expected);
  }
}

TEST(NodeSet, BehindAToRIsWhatIsLinkedToIt) {
  const Names expected =
      those([](const FabricNode& n) { return std::regex_match(n.name, std::regex("s1-h\\d+-nic2")); });
  EXPECT_EQ(expected.size(), 12u);
  EXPECT_EQ(found("s1-r2-tor1:*"), expected);
  EXPECT_EQ(found("s1-r2-tor2:*"), expected);
}

TEST(NodeSet, OfServersIsAllTheirNics) {
  EXPECT_EQ(found("server s2-h1"), (Names{"s2-h1-nic1", "s2-h1-nic2", "s2-h1-nic3"}));
  EXPECT_EQ(found("server s2-*").size(), 36u);
  EXPECT_EQ(found("server *").size(), 72u);
}

TEST(NodeSet, WithAStarIsWhatIsLikeIt) {
  EXPECT_EQ(found("s1-h1*-nic1"), (Names{"s1-h1-nic1", "s1-h10-nic1", "s1-h11-nic1", "s1-h12-nic1"}));
  EXPECT_EQ(found("s1-r1-*", Among::kNodes), (Names{"s1-r1-tor1", "s1-r1-tor2"}));
  EXPECT_EQ(found("*").size(), 72u) << "hosts, where hosts are asked for";
  EXPECT_EQ(found("*", Among::kNodes).size(), fabric().nodes.size());
}

TEST(NodeSet, WithoutANodeSaysWhy) {
  EXPECT_EQ(wrong("s1-h13-nic1"), "there is no node 's1-h13-nic1'");
  EXPECT_EQ(wrong("s1-h12-nic1..s1-h14-nic1"), "there is no node 's1-h13-nic1'");
  EXPECT_EQ(wrong("s1-h1-nic1..s2-h2-nic1"), "a range has two names that differ in one number, such as h1..h8");
  EXPECT_EQ(wrong("..h3"), wrong("h01..h03"));
  EXPECT_EQ(wrong("h1.."), wrong("s1-h1-nic1..s1-h4294967296-nic1"));
  EXPECT_EQ(wrong("rail 4"), "there is no rail '4': they are 1 to 3");
  EXPECT_EQ(wrong("rail 0"), "there is no rail '0': they are 1 to 3");
  EXPECT_EQ(wrong("rail one"), "there is no rail 'one': they are 1 to 3");
  EXPECT_EQ(wrong("s1-r9-tor1:*"), "there is no node 's1-r9-tor1'");
  EXPECT_EQ(wrong("p1-agg1:*"), "no host is linked to 'p1-agg1'");
  EXPECT_EQ(wrong("s1-h1-nic1:*"), "'s1-h1-nic1' is no switch that hosts could be linked to");
  EXPECT_EQ(wrong("server s3-*"), "there is no server 's3-*'");
  EXPECT_EQ(wrong("s3-*"), "no host's name is like 's3-*'");
  EXPECT_EQ(wrong("all of them"),
            "'all of them' is no set: h1..h8, rail 1, tor2:*, server s1-*, job NAME, or a name with *");
}

// For a guess at what was meant.
TEST(NodeSet, OffersTheNamesOfAllServersAndNoOthers) {
  std::set<std::string_view> expected;
  for (const FabricNode& node : fabric().nodes) {
    if (node.name.ends_with("-nic1")) expected.insert(node.server);
  }
  EXPECT_EQ(expected.size(), 24u);
  const auto names = NodeSets(fabric()).names_of_servers();
  EXPECT_EQ(std::set(names.begin(), names.end()), expected);
}

TEST(NodeSet, BeginsWithANumberOfZeroToo) {
  const Fabric zero = tests::testbed_of(
                          "topology:\n  nodes: {s: {kind: switch}, h0: {kind: host}, h1: {kind: host}}\n"
                          "  links: [{endpoints: [s, h0], rate: 1Gbps}, {endpoints: [s, h1], rate: 1Gbps}]\n")
                          .fabric;
  const auto nodes_of = [&](std::string_view text) { return NodeSets(zero).find(text, Among::kHosts).nodes; };
  EXPECT_EQ(nodes_of("h0..h1"), (std::vector{tests::node_at(zero, "h0"), tests::node_at(zero, "h1")}));
  EXPECT_EQ(nodes_of("h1..h0"), (std::vector{tests::node_at(zero, "h1"), tests::node_at(zero, "h0")}));
}

TEST(NodeSet, LikenessIsThatOfAShell) {
  const std::vector<std::string> texts{"", "a", "b", "ab", "ba", "aab", "abab", "abba", "bbab"};
  const std::vector<std::string> patterns{"",    "*",   "a",   "a*",    "*a",    "*a*",
                                          "a*b", "*ab", "**b", "a*b*a", "ab*ab", "*b*b"};
  for (const std::string& pattern : patterns) {
    std::string expression;
    for (const char c : pattern) expression += c == '*' ? ".*" : std::string(1, c);
    for (const std::string& text : texts)
      EXPECT_EQ(is_like(text, pattern), std::regex_match(text, std::regex(expression))) << text << " " << pattern;
  }
}

TEST(NodeSet, ManyTimesWrittenComesToAnEnd) {
  NodeSets sets(fabric());
  size_t refused = 0;
  for (int i = 0; i < 20'000'000 && refused == 0; ++i) refused += sets.find("server *", Among::kHosts).nodes.empty();
  EXPECT_EQ(refused, 1u);
}

}  // namespace
}  // namespace softspine::control
