// SPDX-License-Identifier: Apache-2.0
// Random failures of bonds and LAGs that run LACP, at its slow and its fast rate: what both ends send, judged by what
// they have heard (lacp_judge.hpp). Nothing is lost but by the faults, and after repair all is as before.
//
// Sequence i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_failures --gtest_filter='LacpFailures.*'
#include <algorithm>

#include "control/compile/compile.hpp"
#include "control/report/report.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/failures/lacp_judge.hpp"
#include "tests/scenario/failures/unexplained.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

constexpr uint32_t kLacpInCi = 36;

void try_one(const tests::LacpSequence& sequence) {
  const control::Testbed testbed = testbed_of(sequence.text);
  if (testing::Test::HasFailure()) return;
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt});
  ASSERT_TRUE(fabric) << fabric.error();
  tests::LacpWire wire{testbed, **fabric};
  ASSERT_TRUE((*fabric)->run());
  wire.finish();
  for (const std::string& complaint :
       tests::LacpJudge{testbed, wire, sequence}.complaints((*fabric)->assembly().flows.plans()))
    ADD_FAILURE() << complaint;
  const control::FabricSnapshot snapshot = (*fabric)->snapshot();
  for (const control::LagSnapshot& lag : snapshot.lags) {
    for (const control::LagEndSnapshot& end : lag.ends) {
      EXPECT_TRUE(std::ranges::all_of(end.members, &control::LagMemberSnapshot::is_member)) << lag.name << " repaired";
    }
  }
  tests::expect_faults_explain_losses(control::report_json(snapshot, {.testbed = "", .clock = "virtual"}));
  const std::vector<bool> all(testbed.fabric.links.size(), true);
  EXPECT_TRUE((*fabric)->part<LinkControl>().all_routes() == *control::Compiler{testbed}.routes(all)) << "after repair";
  EXPECT_EQ((*fabric)->drain(), 0u);
}

TEST(LacpFailures, LeaveWhatDoesNotWorkInTimeAndNothingElse) {
  for (uint64_t i = 0, n = tests::to_draw(kLacpInCi); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    const tests::LacpSequence sequence = tests::draw_lacp_sequence(seed);
    try_one(sequence);
    if (!HasFailure()) continue;
    FAIL() << "again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1\n" << sequence.text;
  }
}

}  // namespace
}  // namespace softspine::testbeds
