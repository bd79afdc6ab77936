// SPDX-License-Identifier: Apache-2.0
// Where each switch sends what is bound for each subnet and each switch's loopback: all shortest paths.
//
// A path goes up, then down, never up again (in a fabric BGP enforces this: RFC 7938). A switch that can reach a
// destination by going down only does so, by the shortest ways; every other switch goes up, to the nearest of those
// that can. Links inside a tier count as down. So no loop can form (of mixtures: mixed_routes.hpp).
//
// A LAG is one way, by its first port, whichever of its members are up; with fewer than min_links of them it is none.
//
// A pure function of the fabric and of which links are up. A host behind several switches that has
// lost one of them gets a route of its own, since its subnet's would lead part of its traffic there; unless its bond
// has others change their path (control/model/bond.hpp).
//
// The two switches of a stack (control/model/stack.hpp) stand for each other while a peer link is up: all others send
// to either, and a member that has lost its link to a host, or all ways up, sends over the peer link. Without it they
// are two switches like any others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

struct RouteTable {
  static constexpr uint32_t kConnected = UINT32_MAX - 1;  // in place of the index of a group

  // Distinct; ports, ascending; one port = one next hop. Without a port: what is routed there is dropped.
  std::vector<std::vector<uint16_t>> groups;
  std::vector<uint32_t> by_subnet;       // group, kConnected, or kNone: no route
  std::vector<uint32_t> by_switch;       // to the loopback of the fabric's node; kNone also for itself and hosts
  std::map<uint32_t, uint32_t> by_host;  // the hosts whose route differs from their subnet's

  friend bool operator==(const RouteTable&, const RouteTable&) = default;
};

// By node; empty tables for hosts. `link_up` is by link.
std::vector<RouteTable> compute_routes(const Fabric& fabric, const std::vector<bool>& link_up);

// The routes with all links up, to these subnets alone (by subnet) and to no switch: computing all routes of a large
// fabric takes seconds.
std::vector<RouteTable> compute_routes_to(const Fabric& fabric, const std::vector<bool>& subnets);

// Whether the switch has a route to the host with these links up.
bool has_route(const Fabric& fabric, const std::vector<bool>& link_up, uint32_t node, uint32_t host);

}  // namespace softspine::control
