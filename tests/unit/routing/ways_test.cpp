// SPDX-License-Identifier: Apache-2.0
// The links on the way, against closed formulas and against every walk along the routes of the whole fabric.
#include "control/routing/ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "control/load/load.hpp"
#include "control/routing/routes.hpp"

namespace softspine::control {
namespace {

Fabric fabric_in(const std::string& text) {
  auto testbed = parse_testbed("name: t\n" + text, "t.yaml");
  EXPECT_TRUE(testbed) << to_string(testbed.error().front());
  return testbed->fabric;
}

const char* const kSmallFatTree =
    "fabric: {kind: fat-tree, k: 4, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}\n";
const char* const kSmallHpn = R"(
fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 2, planes: 2, aggregations_per_plane: 2, cores: 2,
         host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
)";

std::vector<uint32_t> hosts_of(const Fabric& fabric) {
  std::vector<uint32_t> out;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == NodeKind::kHost) out.push_back(n);
  }
  return out;
}

Ways ways_of(const Fabric& fabric, const std::vector<uint32_t>& from, const std::vector<uint32_t>& to) {
  return find_ways(fabric, std::vector<Demands>{Demands{Demand{from, to}}}).at(0);
}

// By walking on from each end, one pair at a time.
class Walks {
 public:
  explicit Walks(const Fabric& fabric)
      : fabric_(fabric), routes_(compute_routes(fabric, std::vector<bool>(fabric.links.size(), true))) {}

  std::set<LinkEnd> between(uint32_t from, uint32_t to) {
    seen_.clear();
    for (uint16_t p = 0; p < fabric_.nodes[from].ports.size(); ++p) go({from, p}, to);
    return seen_;
  }

 private:
  void go(LinkEnd sender, uint32_t to) {
    if (!seen_.insert(sender).second) return;
    const uint32_t at = fabric_.peer_of(sender).node;
    if (fabric_.nodes[at].kind == NodeKind::kHost) return;
    const uint32_t route = routes_[at].by_subnet[fabric_.nodes[to].subnet];
    if (route == kNone) return;
    if (route == RouteTable::kConnected) {
      for (uint16_t p = 0; p < fabric_.nodes[at].ports.size(); ++p) {
        if (fabric_.peer_of({at, p}).node == to) go({at, p}, to);
      }
      return;
    }
    for (const uint16_t port : routes_[at].groups[route]) go({at, port}, to);
  }

  const Fabric& fabric_;
  const std::vector<RouteTable> routes_;
  std::set<LinkEnd> seen_;
};

TEST(Ways, OfAllToAllAreAllLinksBothWays) {
  const Fabric fabric = fabric_in(kSmallFatTree);
  const auto hosts = hosts_of(fabric);
  const Ways ways = ways_of(fabric, hosts, hosts);
  EXPECT_EQ(ways.senders.size(), 2 * fabric.links.size());
  EXPECT_EQ(ways.cut_pairs, 0u);
  EXPECT_TRUE(std::ranges::is_sorted(ways.senders));
}

TEST(Ways, OfAnyPairAreThoseOfEveryWalk) {
  for (const char* text : {kSmallFatTree, kSmallHpn}) {
    const Fabric fabric = fabric_in(text);
    const auto hosts = hosts_of(fabric);
    Walks walks(fabric);
    for (const uint32_t from : hosts) {
      for (const uint32_t to : hosts) {
        if (from == to) continue;
        const Ways ways = ways_of(fabric, {from}, {to});
        if (ways.cut) continue;  // rails have no way to each other
        const std::set<LinkEnd> expected = walks.between(from, to);
        EXPECT_EQ(ways.senders, std::vector<LinkEnd>(expected.begin(), expected.end()))
            << fabric.nodes[from].name << " to " << fabric.nodes[to].name;
      }
    }
  }
}

// Without links between spines, hosts of different switches have none.
TEST(Ways, CountsPairsWithoutOne) {
  const Fabric fabric = fabric_in(R"(
topology:
  nodes: {a: {kind: switch}, b: {kind: switch}, h1: {kind: host}, h2: {kind: host}, h3: {kind: host}}
  links: [{endpoints: [h1, a], rate: 1Gbps}, {endpoints: [h2, b], rate: 1Gbps}, {endpoints: [h3, a], rate: 1Gbps}]
)");
  const auto hosts = hosts_of(fabric);
  const Ways ways = ways_of(fabric, hosts, hosts);
  EXPECT_EQ(ways.cut_pairs, 4u) << "h1 and h3 to h2, and back";
  EXPECT_EQ(ways.senders.size(), 4u) << "h1 and h3 by a";
}

}  // namespace
}  // namespace softspine::control
