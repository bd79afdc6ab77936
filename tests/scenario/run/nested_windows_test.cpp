// SPDX-License-Identifier: Apache-2.0
// Windows that nest against one flat window: the same report, but for what it says of the engine.
#include "tests/harness/source_root.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// Racks in windows of their own, by host cables of a few metres: with overrides, a controller and failed links; with
// PFC and storms; with dual ToRs, two planes and a core.
class NestedWindows : public testing::TestWithParam<const char*> {};

Outcome run_shipped(const std::string& name, uint32_t workers, bool flat) {
  const auto testbed =
      control::load_testbed(tests::source_root() / "testbeds" / (name + ".yaml"), {.workers = workers});
  if (!testbed) {
    ADD_FAILURE() << to_string(testbed.error().front());
    return {};
  }
  return run_whole(*testbed, false, {}, flat);
}

TEST_P(NestedWindows, GiveTheReportOfAFlatOneForAnyNumberOfWorkers) {
  const Outcome flat = run_shipped(GetParam(), 1, true);
  const std::string expected = without_engine(flat.report);
  EXPECT_GT(flat.report["totals"]["switched_packets"], 1'000u) << "the case is too easy";
  for (const uint32_t workers : {1U, 2U, 3U}) {
    const Outcome nested = run_shipped(GetParam(), workers, false);
    EXPECT_EQ(without_engine(nested.report), expected) << workers << " workers, nested";
    EXPECT_LT(nested.snapshot.engine.windows * 3, flat.snapshot.engine.windows * 2) << "it does not nest";
    if (workers > 1) {
      EXPECT_EQ(without_engine(run_shipped(GetParam(), workers, true).report), expected) << workers << " workers, flat";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, NestedWindows,
                         testing::Values("pinned-failure", "pfc-storm-watchdog", "hpn-pod-core"));

}  // namespace
}  // namespace softspine::testbeds
