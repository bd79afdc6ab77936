// SPDX-License-Identifier: Apache-2.0
// Plans on data: ours, and those that MSCCL comes with, where they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "control/collectives/msccl_plan.hpp"
#include "control/document/text_file.hpp"
#include "tests/harness/samples.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/collectives/plan_text.hpp"
#include "tests/model/collectives/symbolic_ranks.hpp"

namespace softspine::tests {
namespace {

using control::CollectiveProtocol;
using control::CollectiveShape;
using control::SharedPlan;

SharedPlan plan_of(const std::string& text) {
  auto plan = control::read_msccl_plan(text, "plan.xml");
  if (plan) return *plan;
  for (const control::Error& error : plan.error()) ADD_FAILURE() << control::to_string(error);
  return nullptr;
}

CollectiveShape shape_of(const SharedPlan& plan, uint64_t chunk_bytes) {
  return {.collective = plan->collective,
          .algorithm = control::CollectiveAlgorithm::kPlan,
          .protocol = plan->protocol,
          .ranks = static_cast<uint32_t>(plan->ranks.size()),
          .bytes = chunk_bytes * plan->chunks,
          .channels = plan->channels,
          .plan = plan};
}

void expect_right(const CollectiveShape& shape, const std::string& what) {
  SymbolicRanks ranks(shape, seed());
  EXPECT_EQ(ranks.run(), "") << what << ", bytes " << shape.bytes << ", room " << shape.chunk_bytes
                             << "; SOFTSPINE_SEED=" << seed();
}

// In one loop and in several, with the protocol's slots and with others.
void expect_right(const std::string& text, const std::string& what, const std::vector<uint64_t>& chunks) {
  const SharedPlan plan = plan_of(text);
  if (!plan) return;
  for (const uint64_t chunk : chunks) {
    CollectiveShape shape = shape_of(plan, chunk);
    expect_right(shape, what);
    shape.chunk_bytes = 48;
    shape.slices = 2;
    shape.slots = 2;
    expect_right(shape, what);
    shape.protocol = CollectiveProtocol::kLl;
    expect_right(shape, what);
  }
}

TEST(PlanData, EveryRankEndsWithTheRightResult) {
  for (const uint32_t n : {2U, 3U, 4U, 8U}) {
    expect_right(ring_plan(n), "ring", {1, 100});
    expect_right(ring_plan(n, true), "fused ring", {1, 100});
    expect_right(gathering_plan(n), "gathering", {1, 100});
    expect_right(pairs_plan(n), "pairs", {1, 100});
    expect_right(passing_plan(n), "passing", {1, 100});
  }
}

// The reference sees it if a plan is wrong: so it would see it if we were.
TEST(PlanData, APlanThatForgetsAChunkIsSeen) {
  std::string text = ring_plan(3);
  const size_t reduce = text.find("rrc");
  text.replace(reduce, 3, "r");
  const SharedPlan plan = plan_of(text);
  ASSERT_NE(plan, nullptr);
  SymbolicRanks ranks(shape_of(plan, 16), seed());
  EXPECT_NE(ranks.run().find("wrong result"), std::string::npos);
}

TEST(PlanData, MessagesAreTheRings) {
  const SharedPlan plan = plan_of(ring_plan(8));
  ASSERT_NE(plan, nullptr);
  CollectiveShape planned = shape_of(plan, 128U << 10U);
  CollectiveShape ring = planned;
  ring.algorithm = control::CollectiveAlgorithm::kRing;
  ring.plan = nullptr;
  ring.channels = 1;
  for (uint32_t rank = 0; rank < 8; ++rank) EXPECT_EQ(connections_of(planned, rank), connections_of(ring, rank));
}

// A step of several chunks is one message as long as the protocol's buffer has room for them.
TEST(PlanData, StepsOfSeveralChunksGoAtOnceIfThereIsRoom) {
  const SharedPlan plan = plan_of(pairs_plan(2));
  ASSERT_NE(plan, nullptr);
  CollectiveShape shape = shape_of(plan, 1000);
  shape.protocol = CollectiveProtocol::kLl;
  EXPECT_EQ(connections_of(shape, 0).at(0).messages, 1u);
  EXPECT_EQ(connections_of(shape, 0).at(0).largest, 4'000u);
  shape = shape_of(plan, 20U << 10U);
  shape.protocol = CollectiveProtocol::kLl;
  EXPECT_EQ(connections_of(shape, 0).at(0).messages, 2u);
  shape = shape_of(plan, 33U << 10U);
  shape.protocol = CollectiveProtocol::kLl;
  EXPECT_EQ(connections_of(shape, 0).at(0).messages, 4u) << "two loops";
}

TEST(PlanData, MscclsOwnPlansAreRight) {
  const Samples samples = samples_of("SOFTSPINE_MSCCL_PLANS", "msccl", "MSCCL's plans");
  if (!samples.missing.empty()) GTEST_SKIP() << samples.missing;
  uint32_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(samples.folder)) {
    if (entry.path().extension() != ".xml") continue;
    const auto text = control::read_text_file(entry.path().string());
    ASSERT_TRUE(text) << entry.path();
    expect_right(*text, entry.path().filename().string(), {50});
    ++found;
  }
  EXPECT_GE(found, 8u);
}

}  // namespace
}  // namespace softspine::tests
