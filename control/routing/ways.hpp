// SPDX-License-Identifier: Apache-2.0
// Which links the packets between hosts may take while all links are up, and which hosts have no way to each other.
// Pure. Every link that some ECMP group could choose counts, whatever its hash would choose.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

// Each of `from` sends to each of `to` but itself. Hosts of the fabric.
struct Demand {
  std::vector<uint32_t> from;
  std::vector<uint32_t> to;
};
using Demands = std::vector<Demand>;

struct Ways {
  std::vector<LinkEnd> senders;                      // the sending end of each link on the way, ascending, each once
  uint64_t cut_pairs = 0;                            // pairs of hosts without a way
  std::optional<std::pair<uint32_t, uint32_t>> cut;  // the first of them: source, destination
};

// The ways of each of `all`: routes are computed once, to the subnets that any of them sends to.
std::vector<Ways> find_ways(const Fabric& fabric, const std::vector<Demands>& all);

}  // namespace softspine::control
