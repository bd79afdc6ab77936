// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/reproduce/experiments.hpp"

#include <algorithm>

namespace softspine::tools {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all{meta_fig7(),         meta_table3(),     meta_flowlets(),  meta_ecn(),
                                           hpn_fig17(),         hpn_fig19(),       hpn_disjoint(),   hpn_failure(),
                                           dcqcn_convergence(), uet_single_path(), uet_permutation()};
  return all;
}

const Experiment* find_experiment(std::string_view name) {
  const auto& all = experiments();
  const auto found = std::ranges::find(all, name, &Experiment::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace softspine::tools
