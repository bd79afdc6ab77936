// SPDX-License-Identifier: Apache-2.0
// The flows that are used, the flows that are made to be like them, and those that are named to be sent next.
#include "analysis/identify/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/identify/identification.hpp"
#include "analysis/identify/probes.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::tests {
namespace {

using analysis::Flow;
using analysis::FlowPart;
using analysis::Observations;
using analysis::Sample;
using dataplane::Rng;

// Number i in the source, of IPv4 unless it is told otherwise.
Flow numbered(uint32_t i, bool is_ipv6 = false) {
  Flow out{.is_ipv6 = is_ipv6, .protocol = dataplane::ip::kTcp, .source_port = 7, .destination_port = 80};
  out.source = {10, static_cast<uint8_t>(i >> 16), static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)};
  out.destination = {11};
  return out;
}

Observations numbered_flows(uint32_t ipv4, uint32_t ipv6) {
  Observations out{.links = {"a", "b", "c"}, .flows = {}};
  for (uint32_t i = 0; i < ipv4; ++i) out.flows.push_back({numbered(i), i % 3});
  for (uint32_t i = 0; i < ipv6; ++i) out.flows.push_back({numbered(i, true), i % 3});
  return out;
}

Sample sample_with(const std::vector<Flow>& flows, const std::vector<uint32_t>& links) {
  Observations seen{.links = {"a", "b", "c"}, .flows = {}};
  for (size_t i = 0; i < flows.size(); ++i) seen.flows.push_back({flows[i], links[i]});
  return analysis::sample_of(seen, 3);
}

TEST(SampleOf, ManyFlowsAreEachSecondOrThird) {
  for (const auto& [count, step] : {std::pair{1U, 1U}, std::pair{4'095U, 1U}, std::pair{5'000U, 2U},
                                    std::pair{8'191U, 2U}, std::pair{9'000U, 3U}, std::pair{50'000U, 13U}}) {
    const Sample sample = analysis::sample_of(numbered_flows(count, 0), 5);
    ASSERT_EQ(sample.size(), (count + step - 1) / step) << count;
    EXPECT_LE(sample.size(), 4'096u);
    EXPECT_EQ(sample.frames.size(), sample.size());
    for (uint32_t i = 0; i < sample.size(); ++i) {
      EXPECT_EQ(sample.flows[i], numbered(i * step));
      EXPECT_EQ(sample.links[i], i * step % 3);
    }
    EXPECT_EQ(sample.members, 5u);
    EXPECT_EQ(sample.link_count, 3u);
  }
}

TEST(SampleOf, TwoIpVersionsIsOfTheOneWithMoreFlows) {
  EXPECT_EQ(analysis::sample_of(numbered_flows(5, 4), 3).size(), 5u);
  EXPECT_EQ(analysis::sample_of(numbered_flows(4, 5), 3).size(), 5u);
  EXPECT_TRUE(analysis::sample_of(numbered_flows(4, 5), 3).is_ipv6);
  EXPECT_FALSE(analysis::sample_of(numbered_flows(4, 4), 3).is_ipv6) << "of as many IPv4";
  const auto found =
      analysis::identify(numbered_flows(1, 1), 3, {.goes_on = [](const char*, double) { return false; }});
  EXPECT_EQ(found.flows, 1u);
  EXPECT_EQ(found.of_other_version, 1u);
  EXPECT_FALSE(found.is_ipv6);
}

TEST(SampleOf, NothingIsNoHash) {
  Observations none{.links = {"a", "b"}, .flows = {}, .on_several_links = 3};
  const auto found = analysis::identify(none, 2, {.all_seeds = true});
  EXPECT_EQ(found.verdict, analysis::IdentifyVerdict::kIndistinguishable);
  EXPECT_TRUE(found.classes.empty());
  EXPECT_EQ(found.flows, 0u);
  EXPECT_EQ(found.on_several_links, 3u);
  EXPECT_TRUE(found.all_seeds);
  EXPECT_EQ(found.links.size(), 2u);
}

TEST(Sample, HasAPartWithTheFlowsThatAreKept) {
  const Sample whole = analysis::sample_of(numbered_flows(5, 0), 4);
  const Sample part = part_of(whole, {true, false, false, true, true});
  EXPECT_EQ(part.flows, (std::vector{numbered(0), numbered(3), numbered(4)}));
  EXPECT_EQ(part.links, (std::vector<uint32_t>{0, 0, 1}));
  EXPECT_EQ(part.frames.size(), 3u);
  EXPECT_EQ(part.members, 4u);
  EXPECT_EQ(part.link_count, 3u);
  EXPECT_EQ(part.links_seen(), 2u);
  EXPECT_EQ(whole.links_seen(), 3u);
}

TEST(Sample, PairsTheFirstFlowOfALinkWithTheOthers) {
  const Sample sample = sample_with({numbered(0), numbered(1), numbered(2), numbered(3), numbered(4)}, {2, 1, 2, 2, 1});
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const analysis::FlowPair& pair : pairs_on_one_link(sample)) pairs.emplace_back(pair.first, pair.second);
  EXPECT_EQ(pairs, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 2}, {0, 3}, {1, 4}}));
}

TEST(Sample, VariesInThePartsThatHaveTwoValues) {
  Flow other = numbered(1);
  other.in_port = 5;
  other.destination_port = 443;
  using enum FlowPart;
  EXPECT_EQ(varied_parts(sample_with({numbered(0), numbered(0), other}, {0, 0, 0})),
            (std::set{kSource, kDestinationPort, kInPort}));
  EXPECT_TRUE(varied_parts(sample_with({other, other}, {0, 0})).empty());
}

TEST(Sample, GoesOneWayIfAllItsFlowsDo) {
  const Flow upward = numbered(0);  // 10.… to 11.…
  Flow downward = upward;
  std::swap(downward.source, downward.destination);
  EXPECT_TRUE(goes_one_way(sample_with({upward, numbered(1)}, {0, 0})));
  EXPECT_TRUE(goes_one_way(sample_with({downward, downward}, {0, 0})));
  EXPECT_FALSE(goes_one_way(sample_with({upward, downward}, {0, 0})));
}

TEST(Sample, IsRichByEightValuesOfAddressesAndSourcePort) {
  const auto is_rich_with = [](uint32_t sources, uint32_t destinations, uint32_t ports) {
    std::vector<Flow> flows;
    for (uint32_t i = 0; i < 40; ++i) {
      flows.push_back(numbered(i % sources));
      flows.back().destination[3] = static_cast<uint8_t>(i % destinations);
      flows.back().source_port = static_cast<uint16_t>(i % ports);
    }
    return is_rich(sample_with(flows, std::vector<uint32_t>(flows.size(), 0)));
  };
  EXPECT_TRUE(is_rich_with(8, 8, 8));
  EXPECT_FALSE(is_rich_with(7, 8, 8));
  EXPECT_FALSE(is_rich_with(8, 7, 8));
  EXPECT_FALSE(is_rich_with(8, 8, 7));
}

// Pairs that differ in their source port alone, of which so many took two links.
TEST(Sample, ProvesAPartByMoreThanHalfOfEightPairs) {
  const auto is_proven = [](uint32_t pairs, uint32_t parted, bool may_be_wrong) {
    std::vector<Flow> flows;
    std::vector<uint32_t> links;
    for (uint32_t i = 0; i < pairs; ++i) {
      for (const uint32_t second : {0U, 1U}) {
        flows.push_back(numbered(i));
        flows.back().source_port = static_cast<uint16_t>(second);
        links.push_back(second != 0 && i < parted ? 1 : 0);
      }
    }
    return proven_parts(sample_with(flows, links), may_be_wrong).contains(FlowPart::kSourcePort);
  };
  EXPECT_TRUE(is_proven(1, 1, false));
  EXPECT_FALSE(is_proven(9, 0, false));
  EXPECT_TRUE(is_proven(8, 5, true));
  EXPECT_FALSE(is_proven(8, 4, true));
  EXPECT_TRUE(is_proven(9, 5, true));
  EXPECT_FALSE(is_proven(7, 7, true));
}

TEST(FlowsLike, ASampleDifferInWhatItsFlowsDifferIn) {
  std::vector<Flow> flows{numbered(0), numbered(1), numbered(2)};
  flows[1].vlan = 9;
  flows[2].vlan = 10;
  for (Flow& flow : flows) flow.in_port = 33;
  Flow& roce = flows[2];
  roce.protocol = dataplane::ip::kUdp;
  roce.destination_port = dataplane::udp::kRoceV2Port;
  roce.qp = 17;
  roce.opcode = 6;
  const Sample sample = sample_with(flows, {0, 1, 2});
  for (const size_t count : {0u, 1u, 200u}) EXPECT_EQ(flows_like(sample, count, 1).size(), count);
  std::set<uint32_t> qps;
  std::set<uint16_t> ports;
  std::set<uint16_t> vlans;
  for (const Flow& flow : flows_like(sample, 200, 1)) {
    EXPECT_LT(flow.source, flow.destination) << "one way, as those of the sample";
    EXPECT_EQ(flow.in_port, 33);
    EXPECT_FALSE(flow.is_ipv6);
    EXPECT_EQ(flow.is_roce(), flow.protocol == dataplane::ip::kUdp) << "what is RoCEv2 stays RoCEv2";
    EXPECT_LT(flow.vlan, 4'095);
    qps.insert(flow.qp);
    ports.insert(flow.source_port);
    vlans.insert(flow.vlan);
  }
  EXPECT_GT(qps.size(), 30u) << "each third flow has one of its own";
  EXPECT_GT(ports.size(), 190u);
  EXPECT_GT(vlans.size(), 180u);
  EXPECT_EQ(flows_like(sample, 200, 1), flows_like(sample, 200, 1));
  EXPECT_NE(flows_like(sample, 200, 1), flows_like(sample, 200, 2));
}

TEST(FlowsLike, ASampleOfOneDestinationPortKeepIt) {
  const Sample sample = sample_with({numbered(0), numbered(1)}, {0, 1});
  for (const Flow& flow : flows_like(sample, 50, 1)) EXPECT_EQ(flow.destination_port, 80);
  Flow down = numbered(0);
  std::swap(down.source, down.destination);
  for (const Flow& flow : flows_like(sample_with({down, down}, {0, 1}), 50, 1))
    EXPECT_GT(flow.source, flow.destination);
  size_t upward = 0;
  for (const Flow& flow : flows_like(sample_with({down, numbered(0)}, {0, 1}), 200, 1))
    upward += flow.source < flow.destination ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(upward), 100, 35) << "5 σ = 5 · √(200 / 4)";
}

TEST(FirstProbes, AreAsManyAsWereAskedForAndNoneTwice) {
  for (const size_t count : {0u, 1u, 2u, 7u, 16u, 64u, 200u}) {
    const auto probes = analysis::first_probes(count, {}, 3);
    EXPECT_EQ(probes.size(), count);
    EXPECT_EQ(std::set(probes.begin(), probes.end()).size(), count);
    for (const Flow& flow : probes) {
      EXPECT_EQ(flow.source[0], 10);
      EXPECT_EQ(flow.destination[0], 10);
    }
  }
  const analysis::ProbeRanges narrow{.sources = {{10, 1, 2, 0xc0}, 26}, .destinations = {{10, 9}, 32}};
  for (const Flow& flow : analysis::first_probes(64, narrow, 3)) {
    EXPECT_TRUE(std::equal(flow.source.begin(), flow.source.begin() + 3, narrow.sources.base.begin()));
    EXPECT_GE(flow.source[3], 0xc0);
    EXPECT_EQ(flow.destination, narrow.destinations.base);
  }
}

TEST(ObservedRanges, AreTheLongestPrefixesThatAllShare) {
  const auto ranges_of = [](std::initializer_list<uint32_t> numbers) {
    Observations seen{.links = {"a"}, .flows = {}};
    for (const uint32_t i : numbers) seen.flows.push_back({numbered(i), 0});
    return analysis::observed_ranges(seen);
  };
  EXPECT_EQ(ranges_of({5}).sources.prefix_bits, 32u);
  EXPECT_EQ(ranges_of({4, 5}).sources.prefix_bits, 31u);
  EXPECT_EQ(ranges_of({4, 5, 260}).sources.prefix_bits, 23u) << "10.0.0.4 and 10.0.1.4";
  EXPECT_EQ(ranges_of({4, 5, 260}).destinations.prefix_bits, 32u);
  EXPECT_EQ(ranges_of({4, 260, 5}).sources.base, numbered(4).source);
}

// Of one class whose members are all known nothing is left to decide: flows as they come, none twice.
TEST(NextProbes, ThatDecideAlikeAreTakenAsTheyCome) {
  const Observations seen = numbered_flows(9, 0);
  analysis::Identification found{.links = seen.links, .members = 3};
  found.classes.push_back({{{{}, {.agreeing = 9, .of_bucket = {0, 1, 2}}}}});
  const auto like = flows_like(analysis::sample_of(seen, 3), 2'048, 2);
  const auto ports_of = [](const std::vector<Flow>& flows, size_t count) {
    std::vector<uint16_t> out;
    for (size_t i = 0; i < count; ++i) out.push_back(flows[i].source_port);
    return out;
  };
  for (const size_t count : {1u, 5u, 40u}) {
    const auto next = next_probes(seen, found, {}, count);
    ASSERT_EQ(next.size(), count);
    EXPECT_EQ(ports_of(next, count), ports_of(like, count));
  }
  EXPECT_EQ(next_probes(seen, found, {}, 5'000).size(), 2'048u) << "all that there are";
  found.classes.clear();
  EXPECT_EQ(next_probes(seen, found, {}, 5), analysis::first_probes(5, {}, 11)) << "nine flows, and two";
}

TEST(Iperf3, SendsUdpAndTcpButNoRoceAndNothingElse) {
  Flow flow = numbered(3);
  flow.destination = {10, 2, 0, 5};
  EXPECT_EQ(iperf3_line(flow), "iperf3 -c 10.2.0.5 -B 10.0.0.3 --cport 7 -p 80 -n 10K");
  flow.protocol = dataplane::ip::kUdp;
  EXPECT_EQ(iperf3_line(flow), "iperf3 -c 10.2.0.5 -B 10.0.0.3 --cport 7 -p 80 -u -n 10K");
  flow.destination_port = dataplane::udp::kRoceV2Port;
  EXPECT_EQ(iperf3_line(flow), "");
  flow.protocol = 1;
  EXPECT_EQ(iperf3_line(flow), "");
}

}  // namespace
}  // namespace softspine::tests
