// SPDX-License-Identifier: Apache-2.0
// What lies on which link, and what an ideal hash would have laid there on average: figures beside the verdicts.
#pragma once

#include <vector>

#include "control/explain/polarization.hpp"

namespace softspine::control {

// Fills in groups, flows, links, idle ones and loads; `tiers` as in `choices`.
void add_loads(const FlowChoices& choices, std::vector<TierShare>& tiers);

}  // namespace softspine::control
