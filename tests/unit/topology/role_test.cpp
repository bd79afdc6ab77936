// SPDX-License-Identifier: Apache-2.0
// Each row of kSwitchRoles is true: of files, generated names and tiers.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "control/imports/node_rule.hpp"
#include "tests/unit/topology/fabric_checks.hpp"

namespace softspine::control {
namespace {

using tests::testbed_of;

const std::string kLongLinks = ", host_link: {rate: 100Gbps, length: 5m}, fabric_link: {rate: 400Gbps, length: 40m}}\n";
const std::vector<std::string> kFabrics{
    "fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1" + kLongLinks,
    "fabric: {kind: fat-tree, k: 4" + kLongLinks,
    "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 2, aggregations_per_plane: 2, "
    "cores: 2, core_uplinks: 1" +
        kLongLinks,
    "fabric: {kind: ai-zone, zones: 2, racks: 2, servers_per_rack: 1, nics_per_server: 1, ctsws: 2, atsws: 2" +
        kLongLinks};

// "p1-tor2": tor.
std::string last_word(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      out += c;
    } else if (c == '-') {
      out.clear();
    }
  }
  return out;
}

TEST(Roles, OfGeneratedSwitchesAreToldByTheirNames) {
  for (const std::string& text : kFabrics) {
    for (const FabricNode& node : testbed_of(text).fabric.nodes) {
      if (node.kind != NodeKind::kSwitch) continue;
      const auto& names = row_of(node.role)->names;
      EXPECT_NE(std::ranges::find(names, last_word(node.name)), names.end()) << node.name;
    }
  }
}

TEST(Roles, AreInTheirTiers) {
  for (const std::string& text : kFabrics) {
    const Fabric fabric = testbed_of(text).fabric;
    for (const FabricLink& link : fabric.links) {
      const int a = tier_of(fabric.nodes[link.a.node].role);
      const int b = tier_of(fabric.nodes[link.b.node].role);
      EXPECT_EQ(std::abs(a - b), 1) << fabric.name_of(link.a) << " – " << fabric.name_of(link.b);
    }
  }
  EXPECT_EQ(tier_of_word("tor"), 1);
  EXPECT_EQ(tier_of_word("aggregation"), 2);
  EXPECT_EQ(tier_of_word("core"), 3);
  EXPECT_EQ(tier_of_word("host"), std::nullopt) << "the tier of a host is no switch's";
  EXPECT_EQ(name_of(Role::kHost), "host");
}

TEST(Roles, HaveAProfileEachByTheirWords) {
  for (const RoleRow& row : kSwitchRoles) {
    const std::string word(row.word);
    const Testbed testbed = testbed_of(kFabrics[1] + "profiles: {own: {mtu: 4000}}\nroles: {" + word + ": own}\n");
    size_t found = 0;
    for (const FabricNode& node : testbed.fabric.nodes) {
      if (node.kind != NodeKind::kSwitch) continue;
      EXPECT_EQ(testbed.profiles[node.profile].name, node.role == row.role ? "own" : "default") << node.name;
      found += node.role == row.role;
    }
    EXPECT_GT(found, 0u) << word;
  }
}

TEST(Roles, AreGivenByTheirWords) {
  for (const RoleRow& row : kSwitchRoles) {
    const Testbed testbed =
        testbed_of(kFabrics[0] + "topology: {nodes: {other: {kind: switch, role: " + std::string(row.word) +
                   "}}, links: [{endpoints: [\"other\", \"spine1\"], rate: 100Gbps, length: 5m}]}\n");
    const auto node = std::ranges::find(testbed.fabric.nodes, "other", &FabricNode::name);
    ASSERT_NE(node, testbed.fabric.nodes.end());
    EXPECT_EQ(node->role, row.role);
  }
}

TEST(Roles, AreUsesOfImportedNodesByTheirWords) {
  for (const RoleRow& row : kSwitchRoles) {
    const std::string text = "vendor*=" + std::string(row.word);
    const auto rule = parse_node_rule(text);
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(role_of(rule->use), row.role);
    EXPECT_EQ(to_string(*rule), text);
  }
  EXPECT_EQ(role_of(parse_node_rule("x=switch")->use), std::nullopt) << "some switch: its links say which";
  EXPECT_EQ(role_of(parse_node_rule("x=none")->use), std::nullopt);
  EXPECT_STREQ(kNodeRuleForm.data(), "WHAT=USE (host, switch, tor, aggregation, core, none)");
}

}  // namespace
}  // namespace softspine::control
