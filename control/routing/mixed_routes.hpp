// SPDX-License-Identifier: Apache-2.0
// Routes while switches learn of a change one after the other: some have the new ones already, others still the old.
// Each set is free of loops by itself (routes.hpp); a mixture need not be. A ToR that has lost its link to a host with
// two ToRs would send what is bound for it up, and an aggregation switch that has not learned yet would send it down
// again.
//
// So a switch takes of the new routes what cannot lead back to it. To each destination by itself:
//   fewer next hops than it has   at once: it repairs by itself (ECMP groups shrink)
//   a next hop that it has not    when no way over that next hop, as the others' tables are now, comes back to it;
//                                 until then it keeps what old and new ways share, or has no route
// By induction no mixture has a loop: every step either leaves ways out, or adds one that does not come back.
#pragma once

#include <vector>

#include "control/routing/routes.hpp"

namespace softspine::control {

// What `node` may work by now, on the way from current[node] to `wanted`. Equal to `wanted` if nothing forbids it.
RouteTable without_loops(const Fabric& fabric, const std::vector<RouteTable>& current, uint32_t node,
                         const RouteTable& wanted);

// `table`, and where it has no route that of `last_resort`: of the same switch over more links. Tables of all switches
// that are put together so have no loop: a packet that takes the last resort gets nearer by it until it reaches a
// switch that has a route of its own, and such routes lead to such switches only.
RouteTable with_last_resort(const Fabric& fabric, const RouteTable& table, const RouteTable& last_resort);

// The first loop of the tables: the nodes of one, in order; empty if there is none. To every subnet, host with a route
// of its own, and switch.
std::vector<uint32_t> loop_in(const Fabric& fabric, const std::vector<RouteTable>& tables);

}  // namespace softspine::control
