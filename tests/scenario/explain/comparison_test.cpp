// SPDX-License-Identifier: Apache-2.0
// Predicted ports against those that packets took: the same frames are driven through two fabrics that differ in their
// hash alone. What one of them did, compared with the other's configuration, must differ just where the other one did
// something else.
#include "analysis/explain/comparison.hpp"

#include <algorithm>
#include <set>

#include "analysis/explain/probe.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/explain/driven_fabric.hpp"

namespace softspine::tests {
namespace {

using analysis::FlowVerdict;
using analysis::HopVerdict;
using analysis::PathComparison;
using analysis::SightedFlow;
using analysis::Walker;
using control::LinkEnd;
using dataplane::Duration;
using dataplane::Instant;
using dataplane::Rng;

constexpr uint32_t kDrivenFlows = 2'000;
constexpr const char* kTwoTiers = "{kind: leaf-spine, tors: 4, spines: 6, hosts_per_tor: 4, ";
constexpr const char* kThreeTiers = "{kind: fat-tree, k: 4, ";

control::Testbed fabric_with(const std::string& fabric, const std::string& profile) {
  const auto loaded = control::parse_testbed("name: compared\nfabric: " + fabric +
                                                 "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
                                                 "profiles: {default: {" +
                                                 profile + "}}\n",
                                             "test.yaml");
  if (!loaded) throw std::runtime_error(to_string(loaded.error().front()));
  return without_traffic(*loaded, Duration::ms(1));
}

// Flows of a fabric, and the ways that their packets took.
struct Driven {
  std::vector<LinkEnd> senders;
  std::vector<std::vector<uint8_t>> frames;
  std::vector<Way> ways;
};

Driven drive(const control::Testbed& testbed) {
  Rng rng{seed(), 71};
  std::vector<uint32_t> hosts;
  for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
    if (testbed.fabric.nodes[n].kind == control::NodeKind::kHost) hosts.push_back(n);
  }
  DrivenFabric fabric{testbed};
  const control::Compiler compiler{testbed};
  Driven out;
  for (uint32_t i = 0; i < kDrivenFlows; ++i) {
    analysis::Probe probe{.from = hosts[rng.below(hosts.size())], .to = hosts[rng.below(hosts.size())]};
    while (probe.to == probe.from) probe.to = hosts[rng.below(hosts.size())];
    probe.source_port = static_cast<uint16_t>(rng.next());
    probe.qp = static_cast<uint32_t>(rng.next() & 0xffffff);
    probe.is_ipv6 = rng.below(3) == 0;
    const LinkEnd host{probe.from, 0};
    auto frame = frame_of(testbed.fabric, probe, compiler.router_mac(testbed.fabric.peer_of(host).node));
    fabric.send(Instant::at(Duration::us(2 * (i + 1))), host, frame);
    out.senders.push_back(host);
    out.frames.push_back(std::move(frame));
  }
  fabric.run(Instant::at(Duration::us(2 * kDrivenFlows) + Duration::ms(1)));
  for (uint32_t i = 0; i < kDrivenFlows; ++i) out.ways.push_back(fabric.way(i));
  return out;
}

template <typename Sees>
std::vector<SightedFlow> sighted(const Driven& driven, Sees&& sees, bool knows_senders = true) {
  std::vector<SightedFlow> out;
  for (size_t i = 0; i < driven.ways.size(); ++i) {
    SightedFlow flow{.frame = driven.frames[i], .frame_bytes = 0, .sender = {}, .left = {}};
    if (knows_senders) flow.sender = driven.senders[i];
    for (const LinkEnd end : driven.ways[i]) {
      if (sees(end)) flow.left[end] = 1;
    }
    out.push_back(std::move(flow));
  }
  return out;
}
constexpr auto kAll = [](LinkEnd) { return true; };

PathComparison compared(const control::Testbed& testbed, const std::vector<SightedFlow>& flows) {
  Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  return compare_with(walker, flows);
}

bool leads_up(const control::Fabric& fabric, LinkEnd end) {
  return tier_of(fabric.nodes[fabric.peer_of(end).node].role) > tier_of(fabric.nodes[end.node].role);
}
// The first port up, by which a flow leaves its rack; none if it stays there.
std::optional<LinkEnd> first_uplink(const control::Fabric& fabric, const Way& way) {
  return leads_up(fabric, way.front()) ? std::optional{way.front()} : std::nullopt;
}

class HashesApart : public testing::TestWithParam<const char*> {
 protected:
  control::Testbed ours_ = fabric_with(GetParam(), "hash: {algorithm: CRC_32LO, seed: 3, offset: 5}");
  control::Testbed other_ = fabric_with(GetParam(), "hash: {algorithm: CRC_32LO, seed: 3, offset: 12}");
  Driven driven_ = drive(ours_);
  Driven others_ = drive(other_);
};

TEST_P(HashesApart, AFabricAgreesWithItselfInEveryChoiceOfEveryFlow) {
  const PathComparison found = compared(ours_, sighted(driven_, kAll));
  uint64_t choices = 0;
  uint64_t at_home = 0;
  for (const Way& way : driven_.ways) {
    for (const LinkEnd end : way) choices += leads_up(ours_.fabric, end);
    at_home += !first_uplink(ours_.fabric, way);
  }
  EXPECT_EQ(found.count(FlowVerdict::kDiffers), 0u);
  EXPECT_EQ(found.count(FlowVerdict::kUndecided), 0u);
  EXPECT_EQ(found.count(FlowVerdict::kNoChoice), at_home);
  EXPECT_EQ(found.count(FlowVerdict::kAgrees), kDrivenFlows - at_home);
  uint64_t agree = 0;
  for (const analysis::ComparedTier& tier : found.tiers) {
    agree += tier.agree;
    EXPECT_EQ(tier.differ + tier.not_seen + tier.not_computable, 0u) << tier.name;
  }
  EXPECT_EQ(agree, choices);
}

// Where both fabrics had the flow at a switch, whether they sent it on by the same port is what the verdict says.
TEST_P(HashesApart, AnotherHashDiffersJustWhereTheFabricThatHasItSentTheFlowElsewhere) {
  const PathComparison found = compared(other_, sighted(driven_, kAll));
  uint64_t differ = 0;
  for (size_t i = 0; i < kDrivenFlows; ++i) {
    ASSERT_EQ(found.flows[i].hops.size(), driven_.ways[i].size());
    for (const analysis::ComparedHop& hop : found.flows[i].hops) {
      const auto here = std::ranges::find(driven_.ways[i], hop.node, &LinkEnd::node);
      const auto there = std::ranges::find(others_.ways[i], hop.node, &LinkEnd::node);
      ASSERT_NE(here, driven_.ways[i].end());
      if (there == others_.ways[i].end()) continue;
      EXPECT_EQ(hop.verdict, *here == *there ? HopVerdict::kAgrees : HopVerdict::kDiffers);
      EXPECT_EQ(hop.predicted, std::vector{there->port});
      differ += *here != *there;
    }
  }
  EXPECT_GT(differ, kDrivenFlows / 4);
  EXPECT_GE(found.count(FlowVerdict::kDiffers), differ / 2);  // at most two choices a flow
}

TEST_P(HashesApart, WhateverPortsAreMissingNothingDiffersThatAgreesWithAll) {
  Rng rng{seed(), 72};
  uint64_t agreed = 0;
  uint64_t differed = 0;
  for (int round = 0; round < 12; ++round) {
    std::set<LinkEnd> watched;
    for (uint32_t n = 0; n < ours_.fabric.nodes.size(); ++n) {
      for (uint16_t p = 0; p < ours_.fabric.nodes[n].ports.size(); ++p) {
        if (rng.below(12) <= static_cast<uint64_t>(round)) watched.insert({n, p});
      }
    }
    const auto flows = sighted(driven_, [&](LinkEnd end) { return watched.contains(end); }, rng.below(2) == 0);
    const PathComparison same = compared(ours_, flows);
    EXPECT_EQ(same.count(FlowVerdict::kDiffers), 0u) << "round " << round;
    agreed += same.count(FlowVerdict::kAgrees);
    const PathComparison apart = compared(other_, flows);
    for (size_t i = 0; i < kDrivenFlows; ++i) {
      for (const analysis::ComparedHop& hop : apart.flows[i].hops) {
        const auto here = std::ranges::find(driven_.ways[i], hop.node, &LinkEnd::node);
        const auto there = std::ranges::find(others_.ways[i], hop.node, &LinkEnd::node);
        if (here == driven_.ways[i].end() || there == others_.ways[i].end()) continue;
        EXPECT_FALSE(hop.verdict == HopVerdict::kDiffers && *here == *there);
        EXPECT_FALSE(hop.verdict == HopVerdict::kAgrees && *here != *there);
        differed += hop.verdict == HopVerdict::kDiffers;
      }
    }
  }
  EXPECT_GT(agreed, kDrivenFlows);
  EXPECT_GT(differed, kDrivenFlows);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, HashesApart, testing::Values(kTwoTiers, kThreeTiers));

TEST(Comparing, AToRsChoiceIsInferredFromTheSpineThatSentTheFlowDown) {
  const auto ours = fabric_with(kTwoTiers, "hash: {algorithm: CRC_32LO, offset: 5}");
  const auto other = fabric_with(kTwoTiers, "hash: {algorithm: CRC_32LO, offset: 12}");
  const Driven driven = drive(ours);
  const Driven others = drive(other);
  const auto flows =
      sighted(driven, [&](LinkEnd end) { return ours.fabric.nodes[end.node].role == control::Role::kAggregation; });
  const PathComparison same = compared(ours, flows);
  const PathComparison apart = compared(other, flows);
  for (size_t i = 0; i < kDrivenFlows; ++i) {
    const auto uplink = first_uplink(ours.fabric, driven.ways[i]);
    EXPECT_EQ(same.flows[i].verdict, uplink ? FlowVerdict::kAgrees : FlowVerdict::kNoChoice);
    const bool is_elsewhere = uplink != first_uplink(other.fabric, others.ways[i]);
    const FlowVerdict expected = is_elsewhere ? FlowVerdict::kDiffers : FlowVerdict::kAgrees;
    EXPECT_EQ(apart.flows[i].verdict, uplink ? expected : FlowVerdict::kNoChoice);
  }
}

TEST(Comparing, AHashOfTheIngressPortIsNotComputedWithoutIt) {
  const auto testbed = fabric_with(kTwoTiers, "hash: {fields: [IN_PORT, SRC_IP, L4_SRC_PORT]}");
  const Driven driven = drive(testbed);
  const auto uplinks = [&](LinkEnd end) { return testbed.fabric.nodes[end.node].role == control::Role::kTor; };
  EXPECT_EQ(compared(testbed, sighted(driven, uplinks, true)).count(FlowVerdict::kUndecided), 0u);
  const PathComparison found = compared(testbed, sighted(driven, uplinks, false));
  EXPECT_EQ(found.count(FlowVerdict::kAgrees), 0u);
  EXPECT_EQ(found.count(FlowVerdict::kDiffers), 0u);
  EXPECT_GT(found.count(FlowVerdict::kUndecided), kDrivenFlows / 2);
}

TEST(Comparing, AHashOfBytesThatSwitchesRewriteIsNotComputed) {
  for (const char* udf : {"{base: L3, offset: 8, length: 1, match: {l2_type: 0x0800}}, {base: L3, offset: 7, length: "
                          "1, match: {l2_type: 0x86dd}}",
                          "{base: L2, offset: 6, length: 6}"}) {
    const auto testbed = fabric_with(kTwoTiers, std::string("hash: {fields: [L4_SRC_PORT], udf: [") + udf + "]}");
    const PathComparison found = compared(testbed, sighted(drive(testbed), kAll));
    EXPECT_EQ(found.count(FlowVerdict::kAgrees) + found.count(FlowVerdict::kDiffers), 0u) << udf;
  }
}

TEST(Comparing, AFlowThatWasSeenAtTwoPortsOfASwitchDiffers) {
  const auto testbed = fabric_with(kTwoTiers, "hash: {seed: 1}");
  auto flows = sighted(drive(testbed), kAll);
  const auto flow = std::ranges::find_if(flows, [](const SightedFlow& it) { return it.left.size() > 1; });
  ASSERT_NE(flow, flows.end());
  const LinkEnd uplink =
      std::ranges::find_if(flow->left, [&](const auto& seen) { return leads_up(testbed.fabric, seen.first); })->first;
  for (uint16_t p = 0; p < testbed.fabric.nodes[uplink.node].ports.size(); ++p) {
    if (p != uplink.port && leads_up(testbed.fabric, {uplink.node, p})) flow->left[{uplink.node, p}] = 1;
  }
  const PathComparison found = compared(testbed, {*flow});
  EXPECT_EQ(found.flows[0].verdict, FlowVerdict::kDiffers);
}

}  // namespace
}  // namespace softspine::tests
