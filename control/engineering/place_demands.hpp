// SPDX-License-Identifier: Apache-2.0
// Constrained shortest path over loads, as Meta's controller places flows (SIGCOMM 2024): pure.
//
//   for each demand, the largest first (of those within kTolerance of each other, first those that have a path now):
//     among its paths on which every link stays within `utilisation` and kTolerance:
//       the one whose most loaded link, with it, is the least loaded;
//       of those within kTolerance of the least: the one that the demand has now, then the first
//     none: the demand is not placed
//
// Load of a link = Σ demand × share / capacity. A path's share of a link is below 1 where ECMP spreads it further on.
//
// Greedy: each step is the best, the whole need not be. On m equal links of one switch it is Graham's rule
// of the largest first: the most loaded link has at most 4/3 − 1/(3m) of the least possible (tests/unit/engineering
// tries all placements), and demands that are alike are spread exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace softspine::control {

inline constexpr double kTolerance = 0.01;  // of a link's capacity: counter noise shall neither move nor refuse a flow

struct LinkShare {
  uint32_t link = 0;
  double share = 1;
};
struct DemandPath {
  std::vector<LinkShare> links;
};
struct PathDemand {
  double bps = 0;
  std::vector<DemandPath> paths;
  std::optional<uint32_t> current;  // of its paths
};

struct PlacedDemands {
  std::vector<std::optional<uint32_t>> path;  // by demand
  std::vector<double> load;                   // by link, of its capacity
  double highest() const;
};

// `load`: what is on the links already, of their capacities.
PlacedDemands place_demands(std::span<const PathDemand> demands, std::span<const double> capacity_bps,
                            double utilisation, std::vector<double> load);

}  // namespace softspine::control
