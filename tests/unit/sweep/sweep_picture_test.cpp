// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/sweep_picture.hpp"

#include <gmock/gmock.h>

namespace softspine::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

SweepResult made_up(const std::vector<std::string>& axes) {
  std::vector<Axis> read;
  for (const std::string& axis : axes) read.push_back(axis_of(axis).value());
  SweepResult out{"t.yaml", Combinations::of(std::move(read)).value(), {}};
  for (uint64_t i = 0; i < out.combinations.count(); ++i)
    out.rows.push_back({.state = RowState::kDone, .values = {{"t_ps", "t_ps", static_cast<int64_t>(1'000 + 10 * i)}}});
  return out;
}

TEST(SweepPicture, DrawsLinesOverNumbersAndBoxesOverWords) {
  const auto lines = sweep_picture(made_up({"qps=1,2,4", "kind=a,b", "run.seed=1..5"}), {.over = 2});
  ASSERT_TRUE(lines) << lines.error();
  EXPECT_THAT(*lines, HasSubstr("kind a"));
  EXPECT_THAT(*lines, HasSubstr("over 5 values of run.seed"));
  EXPECT_THAT(*lines, HasSubstr("qps 4, kind b: 1.27 ns")) << "the mean of 1.25 to 1.29 ns";
  const auto boxes = sweep_picture(made_up({"kind=a,b", "run.seed=1..5"}), {.over = 1});
  ASSERT_TRUE(boxes) << boxes.error();
  EXPECT_THAT(*boxes, HasSubstr("kind b: 1.05 ns to 1.09 ns, median 1.07 ns, of 5 runs"));
}

TEST(SweepPicture, DrawsAHeatMapOfTwoPaths) {
  const auto heat = sweep_picture(made_up({"x=1..3", "y=a,b"}), {.kind = SweepPictureKind::kHeat});
  ASSERT_TRUE(heat) << heat.error();
  EXPECT_THAT(*heat, HasSubstr("x 3, y b: 1.05 ns"));
  EXPECT_THAT(*heat, HasSubstr(R"(<rect x="628.0" y="124.0" width="248.0" height="60.0")"));
  EXPECT_FALSE(sweep_picture(made_up({"x=1..3"}), {.kind = SweepPictureKind::kHeat}));
}

// From 112 to 856, of numbers that grow 16 times by their logarithms; the values' axis begins below, at 424.
TEST(SweepPicture, PutsNumbersWhereTheyBelong) {
  EXPECT_THAT(*sweep_picture(made_up({"qps=1,2,4"}), {}), HasSubstr(R"(<line x1="360.0" y1="424.0" x2="360.0")"));
  EXPECT_THAT(*sweep_picture(made_up({"qps=1,4,16"}), {}), HasSubstr(R"(<line x1="484.0" y1="424.0" x2="484.0")"));
  const std::string sizes = *sweep_picture(made_up({"size=1KiB,32KiB,1MiB"}), {});
  EXPECT_THAT(sizes, HasSubstr(R"(<line x1="484.0" y1="424.0" x2="484.0")"));
  EXPECT_THAT(sizes, HasSubstr(R"(<line x1="92.0" y1="424.0" x2="876.0" y2="424.0")"));
}

// 1,000 to 1,040 and 1,050 to 1,090, on an axis from 1,000 to 1,100: quartiles 1,010 and 1,030.
TEST(SweepPicture, DrawsABoxFromQuartileToQuartile) {
  EXPECT_THAT(*sweep_picture(made_up({"kind=a,b", "run.seed=1..5"}), {.over = 1}),
              HasSubstr(R"(<rect x="190.0" y="316.0" width="196.0" height="72.0")"));
}

// 1,020 ± 19.63 and 1,070 ± 19.63 by Student's t, on an axis from 1,000 to 1,100.
TEST(SweepPicture, DrawsTheConfidenceOnBothSides) {
  EXPECT_THAT(*sweep_picture(made_up({"qps=1,2", "run.seed=1..5"}), {.over = 1}),
              HasSubstr(R"(<line x1="112.0" y1="422.7" x2="112.0" y2="281.3" stroke="#0072b2" stroke-width="1.5")"));
}

TEST(SweepPicture, SaysWhatIsMissing) {
  EXPECT_EQ(sweep_picture(made_up({"x=1..3"}), {.column = "u"}).error(), "there is no column u: there are t_ps");
  EXPECT_FALSE(sweep_picture(made_up({"x=a,b"}), {.kind = SweepPictureKind::kLines}));
  SweepResult empty = made_up({"x=1..3"});
  for (SweepRow& row : empty.rows) row.values[0].value = {};
  EXPECT_EQ(sweep_picture(empty, {}).error(), "no run has a number in t_ps");
}

}  // namespace
}  // namespace softspine::tools
