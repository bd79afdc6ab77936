// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/sweep_table.hpp"

#include <gmock/gmock.h>

namespace softspine::tools {
namespace {

using control::Json;
using testing::HasSubstr;

SweepResult made_up() {
  SweepResult out{"t.yaml", Combinations::of({*axis_of("a.x=1,2"), *axis_of("run.seed=1,2,3")}).value(), {}};
  for (const int64_t value : {10, 12, 14, 5, 0, 7}) {
    SweepRow row{.state = RowState::kDone, .values = {{"t_ps", "t_ps", value}}};
    if (value == 0) row = {.state = RowState::kFailed, .why = "no \"luck\", none"};
    out.rows.push_back(row);
  }
  return out;
}

TEST(SweepTable, HasARowForEachRun) {
  EXPECT_EQ(sweep_csv(made_up(), {}),
            "x,seed,t_ps,result,why\n1,1,10,ok,\n1,2,12,ok,\n1,3,14,ok,\n2,1,5,ok,\n"
            "2,2,,failed,\"no \"\"luck\"\", none\"\n2,3,7,ok,\n");
  EXPECT_THAT(sweep_text(made_up(), {}), HasSubstr("failed: no \"luck\", none"));
  const Json json = sweep_json(made_up(), {});
  EXPECT_EQ(json["rows"].size(), 6u);
  EXPECT_EQ(json["rows"][3]["settings"], (Json{{"a.x", "2"}, {"run.seed", "1"}}));
  EXPECT_EQ(json["rows"][3]["values"], (Json{{"t_ps", 5}}));
  EXPECT_EQ(json["rows"][4]["result"], "failed");
}

// Student's t for 2 degrees of freedom at 97.5 %: 4.302653; for 1: 12.706205 (tables).
TEST(SweepTable, HasMeansOverARepeatedPath) {
  const auto rows = spread_over(made_up(), 1);
  ASSERT_EQ(rows.size(), 2u);
  const SweepSpread first = rows[0].spreads[0];
  EXPECT_EQ(first.count, 3u);
  EXPECT_DOUBLE_EQ(first.mean, 12);
  EXPECT_DOUBLE_EQ(first.deviation, 2);
  EXPECT_NEAR(first.confidence, 4.302653 * 2 / std::sqrt(3.0), 1e-5);
  const SweepSpread second = rows[1].spreads[0];
  EXPECT_EQ(second.count, 2u) << "the run that failed has no number";
  EXPECT_NEAR(second.confidence, 12.706205 * std::sqrt(2.0) / std::sqrt(2.0), 1e-5);
  EXPECT_THAT(sweep_csv(made_up(), 1), HasSubstr("x,t_ps,t_ps:n,t_ps:ci95,t_ps:deviation,t_ps:min,t_ps:max\n1,12,3,"));
  EXPECT_EQ(sweep_json(made_up(), 1)["spreads"][1]["values"]["t_ps"]["n"], 2);
  EXPECT_THAT(sweep_text(made_up(), 1), HasSubstr("12 ps ± "));
}

TEST(SweepTable, OfOneNumberHasNoConfidence) {
  const SweepSpread one = spread_of({4});
  EXPECT_EQ(one.mean, 4);
  EXPECT_EQ(one.confidence, 0);
  EXPECT_EQ(spread_of({}).count, 0u);
}

}  // namespace
}  // namespace softspine::tools
