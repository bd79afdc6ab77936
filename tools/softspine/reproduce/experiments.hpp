// SPDX-License-Identifier: Apache-2.0
// The experiments that there are. A further one is a file with its function, a line here, and one in experiments.cpp.
#pragma once

#include <vector>

#include "tools/softspine/reproduce/experiment.hpp"

namespace softspine::tools {

Experiment dcqcn_convergence();
Experiment hpn_disjoint();
Experiment hpn_failure();
Experiment hpn_fig17();
Experiment hpn_fig19();
Experiment meta_ecn();
Experiment meta_fig7();
Experiment meta_flowlets();
Experiment meta_table3();
Experiment uet_permutation();
Experiment uet_single_path();

// In the order in which they are listed.
const std::vector<Experiment>& experiments();
// nullptr if there is none.
const Experiment* find_experiment(std::string_view name);

}  // namespace softspine::tools
