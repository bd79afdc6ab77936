// SPDX-License-Identifier: Apache-2.0
// A trial as bars: the paper's number in outline, ours filled beside it, with a line from its least to its most.
#pragma once

#include <string>
#include <vector>

#include "tools/softspine/reproduce/paper_trial.hpp"

namespace softspine::tools {

// SVG, the whole file.
std::string trial_picture(const Trial& trial);
// HTML, the whole page: each trial's picture, table, claims and assumptions. Nothing in it is loaded from elsewhere.
std::string trials_page(const std::vector<Trial>& trials);

}  // namespace softspine::tools
