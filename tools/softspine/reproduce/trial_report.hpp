// SPDX-License-Identifier: Apache-2.0
// What came out of a trial, for a person and for programs; and the list of what can be tried.
#pragma once

#include <string>
#include <vector>

#include "control/telemetry/json_fwd.hpp"
#include "tools/softspine/reproduce/paper_trial.hpp"

namespace softspine::tools {

// A cell of a table: as many digits as matter, "-" for no number.
std::string number_text(double value);
// Ours over the paper's; "-" where one of them is missing or 0.
std::string ratio_text(double ours, double theirs);
// A line for each cell: what, at, and as text the paper's, ours, deviation, least, most, ratio.
std::vector<std::vector<std::string>> trial_lines(const Trial& trial);
// "20 seeds, 100 runs, 312 s, small"
std::string effort_text(const Trial& trial);

std::string trial_text(const Trial& trial);
control::Json trial_json(const Trial& trial);
std::string experiment_list(const std::vector<Experiment>& experiments);
control::Json experiments_json(const std::vector<Experiment>& experiments);

}  // namespace softspine::tools
