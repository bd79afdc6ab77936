// SPDX-License-Identifier: Apache-2.0
// Whether a testbed's tiers are polarized, for who has not asked: a line in what `check` and `run` print.
#pragma once

#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/json_fwd.hpp"

namespace softspine::tools {

struct PolarizedTier {
  std::string tier;
  std::string by;   // the earlier tier
  double used = 1;  // links that the flows of one earlier link use, over what chance would use
  double max_over_mean = 1;
  double by_chance = 1;
};

// The POLARIZED ones: by up to 4,096 of the workloads' flows with every link up; where there is no workload, by as many
// random ones.
std::vector<PolarizedTier> polarized_tiers(const control::Testbed& testbed);

std::string polarized_text(const std::vector<PolarizedTier>& tiers, const std::string& file);
control::Json polarized_json(const std::vector<PolarizedTier>& tiers);

}  // namespace softspine::tools
