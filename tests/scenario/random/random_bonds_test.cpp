// SPDX-License-Identifier: Apache-2.0
// Random sequences of failures among hosts with two ports: what holds of every one, on one, two and three workers.
//
// Testbed i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_random --gtest_filter='RandomBonds.*'
#include "tests/scenario/random/random_bonds.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "control/telemetry/totals.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kBondsInCi = 25;  // a second or two each: faults are many, and timeouts long

// What a link that is down explains: behind it nobody answers a ToR's ARP, which the other hosts hear, too. And what is
// consumed where it belongs.
constexpr std::array<std::string_view, 4> kOfTheFault{"link_down", "no_route", "neighbour_incomplete", "for_others"};

void expect_only_the_faults_losses(const control::Json& drops) {
  for (const auto& [reason, count] : drops.items()) {
    if (reason.ends_with("consumed") || std::ranges::find(kOfTheFault, reason) != kOfTheFault.end()) continue;
    EXPECT_EQ(count, 0) << reason;
  }
}

void try_one(uint64_t seed) {
  const std::string text = tests::random_bonds(seed);
  const Outcome one = run_text(text, {.workers = 1});
  if (testing::Test::HasFailure()) return;
  expect_only_the_faults_losses(one.report["totals"]["drops"]);
  EXPECT_EQ(one.report["totals"]["completed"], one.report["totals"]["flows"]) << "everything is repaired";
  EXPECT_EQ(one.report["totals"]["stalled_flows"], 0);
  for (const control::FlowSnapshot& flow : one.snapshot.flows) {
    EXPECT_EQ(flow.reliable.completed_messages, flow.planned_messages) << flow.source << " → " << flow.destination;
    EXPECT_EQ(flow.reliable.retry_exceeded_err, 0U);
  }
  const std::string report = without_engine(one.report);
  for (const uint32_t workers : {2U, 3U}) {
    EXPECT_EQ(without_engine(run_text(text, {.workers = workers}).report), report) << workers << " workers";
  }
}

TEST(RandomBonds, EndAllTheirFlowsOnceEverythingIsRepaired) {
  for (uint64_t i = 0, n = tests::to_draw(kBondsInCi); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    try_one(seed);
    if (!HasFailure()) continue;
    FAIL() << "again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1\n" << tests::random_bonds(seed);
  }
}

}  // namespace
}  // namespace softspine::testbeds
