// SPDX-License-Identifier: Apache-2.0
// From a pattern to flows: who sends to whom, with which queue pairs, and what is refused.
#include "testbeds/hosts/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace softspine::testbeds {
namespace {

using control::Pattern;
using control::Workload;

std::vector<Endpoint> hosts_of_racks(const std::vector<uint32_t>& racks) {
  std::vector<Endpoint> out;
  for (const uint32_t rack : racks) {
    out.push_back({.address = Ipv4Address{0x0a000000 + static_cast<uint32_t>(out.size())}, .rack = rack});
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
    ASSERT_TRUE(plan);
    std::vector<uint32_t> from;
    std::vector<uint32_t> to;
    for (const PlannedFlow& flow : *plan) {
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

TEST(WorkloadPatterns, AnIncastIntoOneOfItsSendersIsRefused) {
  const auto hosts = hosts_of_racks({0, 1, 2});
  Workload workload{.pattern = Pattern::kIncast, .from = {0, 1}, .to = {2}};
  EXPECT_TRUE(plan_flows(std::vector{workload}, hosts, 1));
  workload.to = {1};
  const auto plan = plan_flows(std::vector{workload}, hosts, 1);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error(), std::vector<std::string>{"workload 0: a host would send to itself"});
}

// 0 and 1 are management's. A workload's first number is a least one: what a host has given out stays given out.
TEST(WorkloadPatterns, QueuePairNumbersOfAHostFollowEachOtherFromSeventeenOrFromWhereAWorkloadBegins) {
  const auto hosts = hosts_of_racks({0, 1});
  Workload workload{.pattern = Pattern::kPairs, .from = {0}, .to = {1}, .qps = 2};
  std::vector<Workload> workloads(4, workload);
  workloads[2].first_qp = 1'000;
  workloads[3].first_qp = 500;
  const auto plan = plan_flows(workloads, hosts, 1);
  ASSERT_TRUE(plan);
  std::vector<uint32_t> numbers;
  for (const PlannedFlow& flow : *plan) {
    numbers.push_back(flow.flow.source_qp);
    EXPECT_EQ(flow.flow.destination_qp, flow.flow.source_qp) << "its host has given out as many";
  }
  EXPECT_EQ(numbers, (std::vector<uint32_t>{17, 18, 19, 20, 1'000, 1'001, 1'002, 1'003}));
}

}  // namespace
}  // namespace softspine::testbeds
