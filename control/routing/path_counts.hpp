// SPDX-License-Identifier: Apache-2.0
// How many shortest paths lead to a host from the ToRs of all others, counted link by link in the routes: what a load
// balancer has to choose from, the path-selection search space of HPN's Table 1.
//
// Paths begin at a ToR, since a host with two ports has the same number of them from either of its ToRs. They end at
// the host's subnet, so a path over each switch that the host is attached to is counted.
//
// Beside the paths, the choice at each hop: a switch has `ports` ports; `links` of them are next hops to the subnet.
// If all switches of a hop have equally many next hops, which all differ, the product of the links is the number of
// paths. Table 1 counts links, too (60; 8 x 256; 32 x 32 x 4), but for a fat tree of k ports it has k x k: all ports of
// the two switches that choose, although half of the ports lead down. So both products are given.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

// The choice at one hop: the highest numbers of any switch that may be this hop.
struct HopChoice {
  uint32_t links = 0;
  uint32_t ports = 0;
  friend auto operator<=>(const HopChoice&, const HopChoice&) = default;
};

// All ToRs whose paths agree in their number, their length and the choices on them.
struct PathCount {
  uint32_t switches = 0;  // on the way, both ToRs among them
  uint64_t paths = 0;     // UINT64_MAX: that many or more
  uint32_t tors = 0;
  std::vector<HopChoice> choices;  // of the hops with more than one link, from the ToR on

  uint64_t product_of_links() const { return product(&HopChoice::links); }  // UINT64_MAX likewise
  uint64_t product_of_ports() const { return product(&HopChoice::ports); }

 private:
  uint64_t product(uint32_t HopChoice::* of) const;
};

struct PathCounts {
  uint32_t to = 0;                // a host
  std::vector<PathCount> from;    // longest ways first, then most paths, most choices
  uint32_t tors_without_way = 0;  // as in the other plane, or behind another rail
};

// To the first host of the fabric; none if no switch has hosts.
std::optional<PathCounts> count_paths(const Fabric& fabric);

}  // namespace softspine::control
