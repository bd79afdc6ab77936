// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/axes.hpp"

#include <gtest/gtest.h>

namespace softspine::tools {
namespace {

using Values = std::vector<std::string>;

Values values_of(std::string_view text) {
  const auto axis = axis_of("a=" + std::string(text));
  return axis ? axis->values : Values{"error: " + axis.error()};
}

TEST(SweepAxis, HasRangesAndValues) {
  EXPECT_EQ(values_of("7"), (Values{"7"}));
  EXPECT_EQ(values_of("1,2,4"), (Values{"1", "2", "4"}));
  EXPECT_EQ(values_of("0..3"), (Values{"0", "1", "2", "3"}));
  EXPECT_EQ(values_of("-1..1"), (Values{"-1", "0", "1"}));
  EXPECT_EQ(values_of("0..10/4,11"), (Values{"0", "4", "8", "11"}));
  EXPECT_EQ(values_of("1KiB,64KiB"), (Values{"1KiB", "64KiB"}));
  EXPECT_EQ(values_of("[1,2],{a: 1, b: [2,3]},'x,y'"), (Values{"[1,2]", "{a: 1, b: [2,3]}", "'x,y'"}));
  EXPECT_EQ(values_of("../x,a..b"), (Values{"../x", "a..b"})) << "no numbers: these are words";
}

TEST(SweepAxis, RefusesWhatItCannotRun) {
  for (const std::string_view wrong : {"1,,2", "", "5..4", "0..9/0", "1,1", "0..2,1", "0..1000000"})
    EXPECT_TRUE(values_of(wrong)[0].starts_with("error: ")) << wrong;
  EXPECT_EQ(values_of("0..999999").size(), 1'000'000u);
  EXPECT_TRUE(values_of("-9223372036854775807..9223372036854775807")[0].starts_with("error: "));
}

Combinations all_of(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  for (const std::string& text : texts) axes.push_back(axis_of(text).value());
  return Combinations::of(std::move(axes)).value();
}

TEST(SweepCombinations, AreAllOfThemTheLastAxisFastest) {
  const Combinations it = all_of({"x=1,2", "y=a,b,c"});
  ASSERT_EQ(it.count(), 6u);
  std::vector<std::string> seen;
  for (uint64_t i = 0; i < it.count(); ++i) {
    const auto settings = it.settings(i);
    seen.push_back(settings[0].value + settings[1].value);
    EXPECT_EQ(it.axes()[1].values[it.places(i)[1]], settings[1].value);
  }
  EXPECT_EQ(seen, (Values{"1a", "1b", "1c", "2a", "2b", "2c"}));
}

TEST(SweepCombinations, HaveTheShortestNamesThatDiffer) {
  EXPECT_EQ(all_of({"run.seed=1", "workload.0.qps=1", "workload.1.qps=2"}).names(), (Values{"seed", "0.qps", "1.qps"}));
  EXPECT_EQ(all_of({"seed=1", "run.seed=1"}).names(), (Values{"seed", "run.seed"}));
}

TEST(SweepCombinations, AreRefusedIfTooManyOrTwiceTheSame) {
  EXPECT_FALSE(Combinations::of({*axis_of("a=0..999999"), *axis_of("b=0..1")}));
  EXPECT_FALSE(Combinations::of({*axis_of("a=1"), *axis_of("a=2")}));
}

}  // namespace
}  // namespace softspine::tools
