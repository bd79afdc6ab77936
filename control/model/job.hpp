// SPDX-License-Identifier: Apache-2.0
// Jobs: sets of servers that work together, as a scheduler has placed them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/role.hpp"

namespace softspine::control {

// Which servers a job gets, and which of them has which rank. packed: the first free ones, in the fabric's order.
// random: any free ones, drawn. min-cut: those over which the least of its traffic crosses the fabric's upper tiers.
enum class Placement : uint8_t { kPacked, kRandom, kMinCut, kAsListed };

// How much of a job's traffic crosses a tier.
struct TierCrossing {
  Role role = Role::kCore;      // of the switches that it goes over
  uint32_t islands = 0;         // parts of the fabric that these switches join, of those that the job's NICs are in
  double oversubscription = 1;  // the highest of these parts: rate of host links / of links to this tier
  double bytes = 0;             // from one part to another
  double share_of(double all) const { return all > 0 ? bytes / all : 0; }
};

struct Job {
  std::string name;
  Placement placement = Placement::kPacked;
  std::vector<std::string> servers;         // by rank
  std::vector<std::vector<uint32_t>> nics;  // by rank: nodes of the fabric, in its order
  double bytes = 0;                         // that its workloads send between its ranks
  std::vector<TierCrossing> tiers;          // from the top
  Place place;
};

}  // namespace softspine::control
