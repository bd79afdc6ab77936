// SPDX-License-Identifier: Apache-2.0
// Cures of fabrics whose switches are not all chips: what is offered, all of them have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/explain/cure_text.hpp"
#include "analysis/explain/cures.hpp"
#include "analysis/explain/probe.hpp"
#include "analysis/explain/vendor_lines.hpp"
#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::analysis {
namespace {

control::Testbed mixed_tree(const std::string& profiles) {
  const auto testbed = control::parse_testbed(
      "name: tree\nfabric: {kind: fat-tree, k: 8, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: "
      "100Gbps}}\n" +
          profiles,
      "test.yaml");
  if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
  return *testbed;
}

// Between so many pairs of hosts, by source ports of their own.
std::vector<FlowProbe> flows_between(Walker& walker, uint32_t count, uint32_t pairs) {
  const control::Fabric& fabric = walker.testbed().fabric;
  std::vector<uint32_t> hosts;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == control::NodeKind::kHost) hosts.push_back(n);
  }
  dataplane::Rng rng{tests::seed(), 82};
  std::vector<std::pair<uint32_t, uint32_t>> ends;
  while (ends.size() < pairs) {
    const auto from = hosts[rng.below(hosts.size())];
    const auto to = hosts[rng.below(hosts.size())];
    if (from != to) ends.emplace_back(from, to);
  }
  std::vector<FlowProbe> out;
  for (uint32_t i = 0; i < count; ++i) {
    const auto [from, to] = ends[i % pairs];
    const Probe probe{.from = from, .to = to, .source_port = static_cast<uint16_t>(rng.next())};
    out.push_back({frame_of(fabric, probe, walker.router_mac(fabric.peer_of({from, 0}).node)), {from, 0}});
  }
  return out;
}

std::vector<Cure> cures_of(const control::Testbed& testbed, uint32_t pairs) {
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  const auto flows = flows_between(walker, 8'000, pairs);
  return find_cures(walker, flows, polarization_of(walker, flows));
}

std::vector<std::string> names_of(const std::vector<Cure>& cures) {
  std::vector<std::string> out;
  for (const Cure& cure : cures) out.push_back(cure.name);
  return out;
}

// One aggregation switch of another model: only a seed suits all of its tier.
TEST(Cures, OfAMixedLabAreOnesThatAllItsSwitchesHave) {
  const auto of = [](const std::string& all, const std::string& one) {
    return names_of(cures_of(mixed_tree("profiles: {default: {hash: " + all + "}, other: {hash: " + one +
                                        "}}\ntopology: {nodes: {p1-agg1: {profile: other}}}\n"),
                             2'000));
  };
  EXPECT_THAT(of("{algorithm: CRC}", "{algorithm: XXH3, seed: 3}"), testing::Contains("offset"));
  EXPECT_THAT(of("{algorithm: CRC}", "{model: LINUX, policy: 1, seed: 3}"), testing::IsEmpty());
  EXPECT_THAT(of("{algorithm: XXH3}", "{model: OVS, algorithm: L4}"), testing::ElementsAre("seed"));
}

// By SYM_L4 the flows between two hosts have one key.
TEST(Cures, OfOvsHashPortsWhereItsSymmetricHashDoesNot) {
  const control::Testbed testbed = mixed_tree("profiles: {default: {hash: {model: OVS}}}\n");
  const auto cures = cures_of(testbed, 40);
  ASSERT_THAT(names_of(cures), testing::ElementsAre("ports"));
  EXPECT_THAT(yaml_of(testbed, cures[0].changes), testing::HasSubstr("hash: {algorithm: L4, seed: "));
}

// By all policies but 1, and by 3 without both ports, too; the seed stands there for each tier anew.
TEST(Cures, OfLinuxHashPortsWhereItsPolicyDoesNot) {
  for (const std::string policy : {"policy: 0", "policy: 2", "policy: 3, fields: [SRC_IP, DST_IP, L4_DST_PORT]"}) {
    const control::Testbed testbed =
        mixed_tree("profiles: {default: {hash: {model: LINUX, seed: 7, " + policy + "}}}\n");
    const auto cures = cures_of(testbed, 40);
    ASSERT_THAT(names_of(cures), testing::ElementsAre("ports")) << policy;
    EXPECT_THAT(yaml_of(testbed, cures[0].changes), testing::HasSubstr("hash: {policy: 1, seed: "));
    const auto lines = vendor_lines_of(testbed, cures[0].changes);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].lines[0],
              "tor: sysctl -w net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1");
    EXPECT_EQ(lines[0].lines[1], "tor: sysctl -w net.ipv4.fib_multipath_hash_seed=10");
  }
  const control::Testbed hashed = mixed_tree("profiles: {default: {hash: {model: LINUX, seed: 7, policy: 1}}}\n");
  EXPECT_THAT(names_of(cures_of(hashed, 40)), testing::Not(testing::Contains("ports")));
}

}  // namespace
}  // namespace softspine::analysis
