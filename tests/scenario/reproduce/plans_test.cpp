// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "control/load/load.hpp"
#include "tools/softspine/reproduce/experiments.hpp"

namespace softspine::tools {
namespace {

class PapersPlans : public testing::TestWithParam<TrialSize> {};

TEST_P(PapersPlans, AreTestbedsThatDifferBySeed) {
  for (const Experiment& it : experiments()) {
    const std::vector<Plan> plans = it.plans(GetParam(), 1);
    const std::vector<Plan> others = it.plans(GetParam(), 2);
    ASSERT_EQ(plans.size(), others.size());
    for (size_t i = 0; i < plans.size(); ++i) {
      const auto testbed = control::parse_testbed(plans[i].text, plans[i].name);
      EXPECT_TRUE(testbed) << it.name << ", " << plans[i].name << ": " << to_string(testbed.error().front());
      EXPECT_NE(plans[i].text, others[i].text);
      EXPECT_EQ(plans[i].name, others[i].name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SmallAndWhole, PapersPlans, testing::Values(TrialSize::kSmall, TrialSize::kWhole));

}  // namespace
}  // namespace softspine::tools
