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
  EXPECT_FALSE(sweep_picture(made_up({"x=1..3"}), {.kind = SweepPictureKind::kHeat}));
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
