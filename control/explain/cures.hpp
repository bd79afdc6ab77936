// SPDX-License-Identifier: Apache-2.0
// What would cure a polarized fabric: each candidate is tried, by walking the same flows through the changed fabric.
//
//   offset      a rotation by tier: the bits that choose differ
//   algorithm   another polynomial by tier
//   mixing      XXH3, another seed by tier
//   seed        another seed by tier and nothing else (for a CRC and 2^n members: no cure)
//   qp          the destination QP in the key (E-ECMP)
//   offset_qp   both
//   coprime     upper tiers over a prime number of buckets: 509
//   more_qps    four QPs for each, with source ports of their own
#pragma once

#include <string>
#include <vector>

#include "control/explain/polarization.hpp"

namespace softspine::control {

struct Cure {
  std::string name;
  std::string what;       // in words, as one would configure it
  double worst = 0;       // max over mean of the worst tier, with it
  double ideal = 0;       // and what an ideal hash would have there
  bool is_cured = false;  // no tier is uneven any more
};

// By what they reach, the best first; of equals in the order above.
std::vector<Cure> try_cures(Walker& walker, const std::vector<FlowProbe>& flows);

}  // namespace softspine::control
