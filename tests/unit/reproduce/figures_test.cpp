// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/figures.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace softspine::tools {
namespace {

Grid grid_of(std::vector<double> values) {
  return {.rows = {"a", "b"}, .columns = {"x"}, .values = std::move(values)};
}

TEST(PapersFigures, AreMeanDeviationLeastAndMostOfEachCell) {
  Samples samples{grid_of({0, 0})};
  for (const double value : {2.0, 4.0, 9.0}) samples.add(grid_of({value, 1}));
  const Figures found = samples.figures();
  EXPECT_DOUBLE_EQ(found.mean.at(0, 0), 5);
  EXPECT_DOUBLE_EQ(found.deviation.at(0, 0), std::sqrt((9.0 + 1 + 16) / 2));
  EXPECT_DOUBLE_EQ(found.least.at(0, 0), 2);
  EXPECT_DOUBLE_EQ(found.most.at(0, 0), 9);
  EXPECT_DOUBLE_EQ(found.mean.at(1, 0), 1);
  EXPECT_DOUBLE_EQ(found.deviation.at(1, 0), 0);
}

TEST(PapersFigures, HaveNoNumberWhereASeedHasNone) {
  Samples samples{grid_of({0, 0})};
  samples.add(grid_of({1, 2}));
  samples.add(grid_of({kNoNumber, 2}));
  const Figures found = samples.figures();
  EXPECT_TRUE(std::isnan(found.mean.at(0, 0)));
  EXPECT_TRUE(std::isnan(found.most.at(0, 0)));
  EXPECT_DOUBLE_EQ(found.mean.at(1, 0), 2);
}

TEST(PapersFigures, OfNoSampleHaveNoNumber) {
  const Figures found = Samples{grid_of({1, 2})}.figures();
  EXPECT_TRUE(std::isnan(found.mean.at(0, 0)));
  EXPECT_TRUE(std::isnan(found.mean.largest()));
}

TEST(PapersFigures, OfOneSampleDoNotDeviate) {
  Samples samples{grid_of({0, 0})};
  samples.add(grid_of({3, -4}));
  EXPECT_DOUBLE_EQ(samples.figures().deviation.at(0, 0), 0);
  EXPECT_DOUBLE_EQ(samples.figures().mean.largest(), 3);
}

TEST(PapersFigures, LargestPassesOverWhatIsNoNumber) {
  EXPECT_DOUBLE_EQ(grid_of({kNoNumber, -4}).largest(), -4);
}

}  // namespace
}  // namespace softspine::tools
