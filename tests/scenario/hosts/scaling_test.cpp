// SPDX-License-Identifier: Apache-2.0
// QP scaling: a flow's messages over its queue pairs, no byte more or less.
#include <gtest/gtest.h>

#include <algorithm>

#include "control/traffic/plan.hpp"

namespace softspine::control {
namespace {

std::vector<PlannedFlow> plan_of(Scaling scaling, uint32_t qps) {
  Workload workload{.pattern = Pattern::kPairs, .from = {0}, .to = {1}, .qps = qps, .scaling = scaling};
  workload.rate = dataplane::Rate::gbps(64);
  workload.message_bytes = 1'000'003;
  workload.messages = 37;
  const std::vector<TrafficHost> hosts{{.address = 0x0a000002U, .rack = 0}, {.address = 0x0a000102U, .rack = 1}};
  return plan_flows(std::vector{workload}, hosts, 1);
}

TEST(QpScaling, ByItselfGivesEachQueuePairAllMessages) {
  for (const PlannedFlow& flow : plan_of(Scaling::kEach, 4)) {
    EXPECT_EQ(flow.flow.message_bytes, 1'000'003u);
    EXPECT_EQ(flow.flow.messages, 37u);
  }
}

TEST(QpScaling, SharesTheRateAmongTheQueuePairs) {
  for (const uint32_t qps : {1u, 4u, 32u}) {
    for (const PlannedFlow& flow : plan_of(Scaling::kEach, qps)) {
      EXPECT_EQ(flow.flow.rate, dataplane::Rate::bps(64'000'000'000 / qps));
    }
  }
}

TEST(QpScaling, SplitsEachMessage) {
  for (const uint32_t qps : {1u, 4u, 32u}) {
    uint64_t bytes = 0;
    const auto plan = plan_of(Scaling::kSplit, qps);
    ASSERT_EQ(plan.size(), qps);
    for (const PlannedFlow& flow : plan) {
      bytes += flow.flow.message_bytes;
      EXPECT_EQ(flow.flow.messages, 37u);
      EXPECT_NEAR(static_cast<double>(flow.flow.message_bytes), 1'000'003.0 / qps, 1);
    }
    EXPECT_EQ(bytes, 1'000'003u);
  }
}

TEST(QpScaling, DealsMessagesRoundRobin) {
  for (const uint32_t qps : {1u, 4u, 32u}) {
    uint64_t messages = 0;
    for (const PlannedFlow& flow : plan_of(Scaling::kRoundRobin, qps)) {
      messages += flow.flow.messages;
      EXPECT_EQ(flow.flow.message_bytes, 1'000'003u);
      EXPECT_GE(flow.flow.messages, 1u) << "none would be without end";
    }
    EXPECT_EQ(messages, 37u);
  }
}

}  // namespace
}  // namespace softspine::control
