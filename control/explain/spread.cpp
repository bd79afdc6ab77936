// SPDX-License-Identifier: Apache-2.0
#include "control/explain/spread.hpp"

#include <algorithm>
#include <numeric>

#include "dataplane/units/rng.hpp"

namespace softspine::control {

Spread spread_of(const std::vector<uint32_t>& flows) {
  Spread out{.links = static_cast<uint32_t>(flows.size())};
  double squares = 0;
  uint32_t most = 0;
  for (const uint32_t n : flows) {
    out.flows += n;
    out.idle += n == 0;
    most = std::max(most, n);
    squares += static_cast<double>(n) * n;
  }
  if (out.flows == 0) return out;
  const auto sum = static_cast<double>(out.flows);
  out.max_over_mean = most * static_cast<double>(out.links) / sum;
  out.jain = sum * sum / (static_cast<double>(out.links) * squares);
  return out;
}

Ideal ideal_of(const std::vector<Thrower>& switches, uint32_t rounds) {
  Ideal out;
  dataplane::Rng rng{1, 0};
  std::vector<uint32_t> counts;
  for (uint32_t round = 0; round < rounds; ++round) {
    counts.clear();
    for (const Thrower& thrower : switches) {
      const size_t first = counts.size();
      counts.resize(first + thrower.links);
      for (uint32_t i = 0; i < thrower.flows; ++i) ++counts[first + rng.below(thrower.links)];
    }
    const Spread spread = spread_of(counts);
    out.max_over_mean += spread.max_over_mean / rounds;
    out.jain += spread.jain / rounds;
    out.largest = std::max(out.largest, spread.max_over_mean);
  }
  return out;
}

}  // namespace softspine::control
