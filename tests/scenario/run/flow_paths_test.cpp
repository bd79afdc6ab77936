// SPDX-License-Identifier: Apache-2.0
// The ways that flow_paths.hpp says of flows, against the counters of a run in which nothing else is sent: a port has
// sent as many packets as the flows that are said to leave by it.
#include "testbeds/run/flow_paths.hpp"

#include <map>
#include <numeric>

#include "testbeds/run/live_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

struct Walked {
  std::map<std::string, uint64_t> counted;  // packets, by port, of ports that have sent
  std::map<std::string, uint64_t> said;     // likewise
  std::vector<FlowPath> paths;              // by flow
  uint64_t lost = 0;
};

uint64_t lost_in(const control::FabricSnapshot& snapshot) {
  uint64_t out = 0;
  for (const control::FlowSnapshot& flow : snapshot.flows) out += flow.sent_packets - flow.received_packets;
  return out;
}

Walked walked(const control::Testbed& testbed) {
  Walked out;
  const auto fabric = RunningFabric::make(testbed, {});
  EXPECT_TRUE(fabric && (*fabric)->run());
  const RunFlows& flows = (*fabric)->part<LiveControl>().flows();
  FlowPaths paths{testbed, flows};
  std::vector<uint32_t> all(flows.size());
  std::iota(all.begin(), all.end(), 0U);
  paths.look(path_tables(*(*fabric)->assembly().nodes, (*fabric)->part<LinkControl>(), flows), all);
  const control::FabricSnapshot snapshot = (*fabric)->snapshot();
  for (const uint32_t flow : all) {
    EXPECT_NE(paths.of(flow), nullptr);
    if (paths.of(flow) == nullptr) continue;
    out.paths.push_back(*paths.of(flow));
    const uint64_t sent = snapshot.flows[flow].sent_packets;
    for (const control::LinkEnd end : out.paths.back().ports) {
      if (sent > 0) out.said[testbed.fabric.name_of(end)] += sent;
    }
  }
  const auto count = [&](const std::string& node, const auto& ports) {
    for (const auto& port : ports) {
      if (port.link.packets > 0) out.counted[node + ":" + port.name] = port.link.packets;
    }
  };
  for (const control::SwitchSnapshot& it : snapshot.switches) count(it.name, it.ports);
  for (const control::HostSnapshot& it : snapshot.hosts) count(it.name, it.ports);
  out.lost = lost_in(snapshot);
  (*fabric)->drain();
  return out;
}

control::Testbed shipped(const std::string& name) {
  auto testbed = control::load_testbed(tests::source_root() / "testbeds" / (name + ".yaml"));
  EXPECT_TRUE(testbed) << name;
  return std::move(*testbed);
}

class FlowPathsOf : public testing::TestWithParam<const char*> {};

TEST_P(FlowPathsOf, LeadByPortsThatHaveSentAsMuch) {
  const Walked found = walked(shipped(GetParam()));
  EXPECT_EQ(found.lost, 0U);
  EXPECT_GT(found.counted.size(), 4U);
  EXPECT_EQ(found.said, found.counted);
  for (const FlowPath& path : found.paths) EXPECT_EQ(path.end, "arrives");
}

// Two tiers, hashes that polarize and that do not, and bonds with two planes whose cores go by ingress port, behind
// links that are down.
INSTANTIATE_TEST_SUITE_P(Testbeds, FlowPathsOf,
                         testing::Values("two-tier", "polarized", "cured-offset", "hpn-in-port"));

class DrawnFlowPaths : public testing::TestWithParam<const char*> {};

TEST_P(DrawnFlowPaths, HaveEveryPortThatPacketsTook) {
  const Walked found = walked(shipped(GetParam()));
  for (const FlowPath& path : found.paths) EXPECT_TRUE(path.is_drawn || path.ports.size() == 2);
  std::vector<std::string> said;
  std::vector<std::string> counted;
  for (const auto& [port, packets] : found.said) said.push_back(port);
  for (const auto& [port, packets] : found.counted) counted.push_back(port);
  EXPECT_EQ(said, counted);
}

INSTANTIATE_TEST_SUITE_P(Testbeds, DrawnFlowPaths, testing::Values("spray", "fat-tree", "rail-only"));

class FlowPathsBy : public testing::TestWithParam<const char*> {};

TEST_P(FlowPathsBy, LeadByPortsThatHaveSentAsMuch) {
  const Walked found = walked(testbed_of(std::string(R"(
name: three-tiers
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
workload: [{name: w, pattern: pairs, from: [h1..h16], to: [h5..h16, h1..h4], message: 64KiB, mtu: 1024, qps: 4, source_port: per_qp, rate: 8Gbps}]
profiles: {default: )") + GetParam() + "}\n"));
  EXPECT_EQ(found.lost, 0U);
  EXPECT_GT(found.counted.size(), 40U);
  EXPECT_EQ(found.said, found.counted);
}

INSTANTIATE_TEST_SUITE_P(Groups, FlowPathsBy,
                         testing::Values("{}", "{hash: {algorithm: XXH3}}", "{groups: {mode: pinned}}",
                                         "{groups: {mode: in_port}}", "{groups: {kind: resilient, buckets: 64}}"));

constexpr const char* kLags = R"(
name: lags
run: {duration: 10ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, links_per_spine: 4, hosts_per_tor: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
topology:
  lags: [{name: a, between: [tor1, spine1]}, {name: b, between: [tor1, spine2]}, {name: c, between: [tor2, spine1]}, {name: d, between: [tor2, spine2]}]
profiles: {default: {hash: {algorithm: CRC}, lag_hash: {seed: 7}}}
workload: [{name: w, pattern: pairs, from: [h1, h2], to: [h5, h6], message: 64KiB, mtu: 1024, qps: 32, source_port: per_qp, rate: 20Gbps, start: 1ms}]
convergence: 100us
)";

TEST(FlowPaths, LeadByMembersOfLags) {
  const Walked whole = walked(testbed_of(kLags));
  EXPECT_EQ(whole.said, whole.counted);
  const Walked without =
      walked(testbed_of(std::string(kLags) + "faults: [{at: 10us, link: \"tor1:Ethernet16\", set: down}]\n"));
  EXPECT_EQ(without.said, without.counted);
  EXPECT_TRUE(whole.counted.contains("tor1:Ethernet16"));
  EXPECT_FALSE(without.counted.contains("tor1:Ethernet16"));
}

TEST(FlowPaths, FollowOverrides) {
  const std::string text = R"(
name: overridden
fabric: {kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: w, pattern: pairs, from: [h1, h2], to: [h3, h4], message: 64KiB, mtu: 1024, qps: 16, source_port: per_qp, rate: 20Gbps}]
overrides: [{at: tor1, from: h1, to: h3, via: spine3}]
)";
  const Walked found = walked(testbed_of(text));
  EXPECT_EQ(found.said, found.counted);
  EXPECT_EQ(found.lost, 0U);
}

TEST(FlowPaths, SayWherePacketsAreLost) {
  const std::string text = R"(
name: cut
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1MiB, messages: 100, mtu: 1024}]
convergence: 10s
faults: [{at: 100us, link: "spine1:Ethernet4", set: down}]
)";
  const Walked found = walked(testbed_of(text));
  ASSERT_EQ(found.paths.size(), 1U);
  EXPECT_EQ(found.paths[0].end, "link down");
  EXPECT_EQ(found.paths[0].ports.size(), 3U) << "h1, tor1, spine1";
  EXPECT_FALSE(found.paths[0].is_drawn);
}

}  // namespace
}  // namespace softspine::testbeds
