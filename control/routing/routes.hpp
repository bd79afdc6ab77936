// SPDX-License-Identifier: Apache-2.0
// Where each switch sends what is bound for each subnet and each switch's loopback: all shortest paths.
//
// A path goes up, then down, never up again (as a fabric's BGP sees to it: RFC 7938): who can reach a
// destination by going down only does so, by the shortest ways; everybody else goes up, to the nearest
// of those. Links inside a tier count as down. So no loop can form, also while routes change.
//
// A pure function of the fabric and of which links are up. A host behind several switches that has
// lost one of them gets a route of its own, since its subnet's would lead part of its traffic there.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

struct RouteTable {
  static constexpr uint32_t kConnected = UINT32_MAX - 1;  // where an index of a group could be

  std::vector<std::vector<uint16_t>> groups;  // distinct; ports, ascending; one port = one next hop
  std::vector<uint32_t> by_subnet;            // group, kConnected, or kNone: no route
  std::vector<uint32_t> by_switch;            // to the loopback of the fabric's node; kNone also for itself and hosts
  std::map<uint32_t, uint32_t> by_host;       // the hosts whose route differs from their subnet's

  friend bool operator==(const RouteTable&, const RouteTable&) = default;
};

// By node; empty tables for hosts. `link_up` is by link.
std::vector<RouteTable> compute_routes(const Fabric& fabric, const std::vector<bool>& link_up);

// With all links up, and to these subnets alone (by subnet): of a large fabric all routes take seconds.
std::vector<RouteTable> compute_routes_to(const Fabric& fabric, const std::vector<bool>& subnets);

}  // namespace softspine::control
