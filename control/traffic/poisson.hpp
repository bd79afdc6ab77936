// SPDX-License-Identifier: Apache-2.0
// Flows that arrive by chance, at a load: a Poisson process of each source, as HPCC's traffic generator draws it.
//
//   mean time between flows of a source = mean bytes · 8 / (load · rate of its links), in whole picoseconds
//   times between flows   exponential
//   destination           uniform among the other hosts
//   size                  SizeDistribution
//
// The load is of payload: headers come on top of it. Flows are in the order of their starts, those of one instant by
// source; what is drawn first does not depend on how many there are to be.
#pragma once

#include <cstdint>
#include <vector>

#include "control/traffic/size_distribution.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/rng.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Exponential with mean 1, as 32.32 bits: by comparisons of uniform numbers alone (von Neumann 1951). A run u₁ > u₂ > …
// that ends with its n-th number gives u₁ if n is odd; if it is even, 1 is added and all begins anew.
uint64_t draw_exponential(dataplane::Rng& rng);

struct PoissonTraffic {
  const SizeDistribution& sizes;
  uint64_t load_millionths = 0;
  std::vector<dataplane::Rate> rates;  // of the hosts, at least two; none is 0
  dataplane::Duration until;           // flows start before
  uint64_t flows = 0;                  // at most so many
};

struct ArrivedFlow {
  uint32_t from = 0;  // of the hosts
  uint32_t to = 0;
  uint64_t bytes = 0;
  dataplane::Duration start;
};

std::vector<ArrivedFlow> draw_poisson(const PoissonTraffic& traffic, dataplane::Rng rng);

}  // namespace softspine::control
