// SPDX-License-Identifier: Apache-2.0
// The load of each link, and the mean load that an ideal hash would give it: figures that stand beside the verdicts.
#pragma once

#include <vector>

#include "analysis/explain/polarization.hpp"

namespace softspine::analysis {

// Fills in the groups, flows, links, idle links and loads of each tier; `tiers` as in `choices`.
void add_loads(const FlowChoices& choices, std::vector<TierShare>& tiers);

}  // namespace softspine::analysis
