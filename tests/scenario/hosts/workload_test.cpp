// SPDX-License-Identifier: Apache-2.0
// From a pattern to flows: who sends to whom, and with which queue pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "control/traffic/pairs.hpp"
#include "control/traffic/plan.hpp"

namespace softspine::control {
namespace {

std::vector<TrafficHost> hosts_of_racks(const std::vector<uint32_t>& racks) {
  std::vector<TrafficHost> out;
  for (const uint32_t rack : racks) {
    out.push_back({.address = 0x0a000000 + static_cast<uint32_t>(out.size()), .rack = rack});
  }
  return out;
}

// The largest rack has half of the hosts, as many as a permutation over racks can have.
TEST(WorkloadPatterns, APermutationOverRacksStaysInNoRackAndReachesEachHostOnce) {
  const std::vector<uint32_t> racks{0, 1, 0, 2, 0, 1, 0, 2};
  const auto hosts = hosts_of_racks(racks);
  const Workload workload{.pattern = Pattern::kPermutation, .hosts = {0, 1, 2, 3, 4, 5, 6, 7}, .cross_rack = true};
  std::set<std::vector<uint32_t>> different;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto plan = plan_flows(std::vector{workload}, hosts, seed);
    std::vector<uint32_t> from;
    std::vector<uint32_t> to;
    for (const PlannedFlow& flow : plan) {
      EXPECT_NE(racks[flow.source], racks[flow.destination]) << "seed " << seed;
      from.push_back(flow.source);
      to.push_back(flow.destination);
    }
    EXPECT_EQ(from, workload.hosts);
    different.insert(to);
    std::ranges::sort(to);
    EXPECT_EQ(to, workload.hosts) << "seed " << seed;
  }
  EXPECT_GT(different.size(), 10u) << "drawn from the seed";
}

TEST(WorkloadPatterns, AllHaveTheFlowsThatTheirPairsSay) {
  const auto hosts = hosts_of_racks({0, 1, 2, 3});
  using Route = std::pair<uint32_t, uint32_t>;
  const auto routes = [&](Workload workload) {
    std::vector<Route> out;
    for (const PlannedFlow& flow : plan_flows(std::vector{workload}, hosts, 1))
      out.emplace_back(flow.source, flow.destination);
    EXPECT_EQ(flows_of(workload), out.size());
    return out;
  };
  EXPECT_EQ(routes({.pattern = Pattern::kIncast, .from = {0, 3}, .to = {2}}), (std::vector<Route>{{0, 2}, {3, 2}}));
  EXPECT_EQ(routes({.pattern = Pattern::kIncast, .from = {0, 3}, .to = {2, 1}}), (std::vector<Route>{{0, 2}, {3, 2}}))
      << "an incast is to the first";
  EXPECT_EQ(routes({.pattern = Pattern::kPairs, .from = {0, 3}, .to = {2, 0}}), (std::vector<Route>{{0, 2}, {3, 0}}));
  EXPECT_EQ(routes({.pattern = Pattern::kRing, .hosts = {3, 1, 2}}), (std::vector<Route>{{3, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(routes({.pattern = Pattern::kAllToAll, .hosts = {3, 1}}), (std::vector<Route>{{3, 1}, {1, 3}}));
  EXPECT_EQ(routes({.pattern = Pattern::kAllToAll, .hosts = {0, 1, 2, 3}}).size(), 12u);
  EXPECT_EQ(routes({.pattern = Pattern::kPermutation, .hosts = {0, 1, 2, 3}}).size(), 4u);
}

// 0 and 1 are management's. A workload's first number is a least one: what a host has given out stays given out.
TEST(WorkloadPatterns, QueuePairNumbersOfAHostFollowEachOtherFromSeventeenOrFromWhereAWorkloadBegins) {
  const auto hosts = hosts_of_racks({0, 1});
  Workload workload{.pattern = Pattern::kPairs, .from = {0}, .to = {1}, .qps = 2};
  std::vector<Workload> workloads(4, workload);
  workloads[2].first_qp = 1'000;
  workloads[3].first_qp = 500;
  const auto plan = plan_flows(workloads, hosts, 1);
  std::vector<uint32_t> numbers;
  for (const PlannedFlow& flow : plan) {
    numbers.push_back(flow.flow.source_qp);
    EXPECT_EQ(flow.flow.destination_qp, flow.flow.source_qp) << "its host has given out as many";
  }
  EXPECT_EQ(numbers, (std::vector<uint32_t>{17, 18, 19, 20, 1'000, 1'001, 1'002, 1'003}));
}

std::vector<uint32_t> numbers_of_one_host(const std::vector<Workload>& workloads, uint64_t seed) {
  std::vector<uint32_t> out;
  const auto plan = plan_flows(workloads, hosts_of_racks({0, 1}), seed);
  for (const PlannedFlow& flow : plan) out.push_back(flow.flow.source_qp);
  return out;
}

// hns: (id << 3) | bank, the ids of two banks in turn from 1. ionic: halves of groups of 2048, 0 and 1 are reserved.
TEST(WorkloadPatterns, QueuePairNumbersAreThoseOfTheNamedDriver) {
  const Workload workload{.pattern = Pattern::kPairs, .from = {0}, .to = {1}, .qps = 5};
  const auto numbered = [&](QpNumbering numbering, uint32_t qps) {
    Workload changed = workload;
    changed.qp_numbers = numbering;
    changed.qps = qps;
    return numbers_of_one_host({changed}, 1);
  };
  using enum QpNumbering;
  EXPECT_EQ(numbered(kRxe, 5), (std::vector<uint32_t>{17, 18, 19, 20, 21}));
  EXPECT_EQ(numbered(kHns, 5), (std::vector<uint32_t>{8, 9, 16, 17, 24}));
  EXPECT_EQ(numbered(kIonic, 5), (std::vector<uint32_t>{2, 0x800, 3, 0x801, 4}));
  const auto many = numbered(kIonic, 4'096);
  EXPECT_EQ(many[4'091], 0xffdU) << "the 2046th of the second half";
  EXPECT_EQ(many[4'090], 0x7ffU) << "the last of the first half's first group";
  EXPECT_EQ(many[4'092], 0x1000U) << "the first half's second group";
}

TEST(WorkloadPatterns, QueuePairNumbersOfMlx5FollowEachOtherFromAPlaceOfTheHostsOwn) {
  Workload workload{.pattern = Pattern::kPairs, .from = {0}, .to = {1}, .qps = 100};
  workload.qp_numbers = QpNumbering::kMlx5;
  std::set<uint32_t> starts;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto plan = plan_flows(std::vector{workload}, hosts_of_racks({0, 1}), seed);
    const FlowConfig& first = plan.front().flow;
    EXPECT_GE(first.source_qp, 0x100u);
    EXPECT_LE(first.source_qp, 0xffffu);
    for (uint32_t i = 0; i < workload.qps; ++i) {
      EXPECT_EQ(plan[i].flow.source_qp, first.source_qp + i);
      EXPECT_EQ(plan[i].flow.destination_qp, first.destination_qp + i);
    }
    starts.insert({first.source_qp, first.destination_qp});
  }
  EXPECT_GT(starts.size(), 90u) << "each host's own, by the seed";
}

TEST(WorkloadPatterns, AHostGivesAQueuePairNumberOutOnceHoweverItsWorkloadsNumber) {
  std::vector<Workload> workloads;
  for (const auto& [word, numbering] :
       std::initializer_list<std::pair<const char*, QpNumbering>>{{"rxe", QpNumbering::kRxe},
                                                                  {"hns", QpNumbering::kHns},
                                                                  {"ionic", QpNumbering::kIonic},
                                                                  {"random", QpNumbering::kRandom},
                                                                  {"mlx5", QpNumbering::kMlx5}}) {
    workloads.push_back({.name = word, .pattern = Pattern::kPairs, .from = {0}, .to = {1}, .qps = 3'000});
    workloads.back().qp_numbers = numbering;
  }
  std::vector<uint32_t> numbers = numbers_of_one_host(workloads, 7);
  ASSERT_EQ(numbers.size(), 15'000u);
  EXPECT_EQ(std::set<uint32_t>(numbers.begin(), numbers.end()).size(), numbers.size());
  EXPECT_TRUE(std::ranges::all_of(numbers, [](uint32_t qp) { return qp >= 2 && qp < 1U << 24; }));
  EXPECT_NE(numbers, numbers_of_one_host(workloads, 8));
}

}  // namespace
}  // namespace softspine::control
