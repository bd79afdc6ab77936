// SPDX-License-Identifier: Apache-2.0
// Routes while switches learn of a change one after the other: some have the new ones already, others still the old.
// Each set is free of loops by itself (routes.hpp); a mixture need not be. A ToR that has lost its link to a host with
// two ToRs would send what is bound for it up, and an aggregation switch that has not learned yet would send it down
// again.
//
// So a switch takes only those new routes that cannot lead back to it. For each destination separately:
//   next hops are removed         at once: the switch repairs this locally (ECMP groups shrink)
//   a next hop is added           once no path over it, by the present tables of the others, returns to the switch;
//                                 until then the switch keeps the next hops common to old and new, or has no route
// By induction no mixture has a loop: every step removes next hops, or adds one whose paths do not come back.
#pragma once

#include <vector>

#include "control/routing/routes.hpp"

namespace softspine::control {

// The table that `node` may use now, between current[node] and `wanted`. Equal to `wanted` if no loop can arise.
RouteTable without_loops(const Fabric& fabric, const std::vector<RouteTable>& current, uint32_t node,
                         const RouteTable& wanted);

// `table`; where it has no route, the route of `last_resort`, the same switch's table over more links. If the tables of
// all switches are made so, they have no loop: a last resort brings a packet nearer at each hop, until a switch has a
// route in its own `table`, and such routes lead only to switches that have one, too.
RouteTable with_last_resort(const Fabric& fabric, const RouteTable& table, const RouteTable& last_resort);

// The nodes of the first loop that the tables have, in order; empty: no loop. All destinations are tried: subnets,
// hosts with a route of their own, and switches.
std::vector<uint32_t> loop_in(const Fabric& fabric, const std::vector<RouteTable>& tables);

}  // namespace softspine::control
