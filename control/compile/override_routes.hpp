// SPDX-License-Identifier: Apache-2.0
// Overrides become routes of a switch's trie: pure.
//
// Each prefix that an override names, and each route inside such a prefix, becomes an OverrideSet over the route that a
// packet would take without it. For each port the set has the override with the longest prefix that covers the
// route, the file's before the controller's. So one longest match at the switch gives the same as a search of all
// overrides (tests/unit/engineering compares the two). The switch's own addresses are never overridden.
//
// An override whose port is no next hop of the route below it is withdrawn there.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "control/model/engineering.hpp"
#include "dataplane/forwarding/forwarding_state.hpp"

namespace softspine::control {

// The routes of one IP version while a state is put together: values, and the ports that each may leave by.
struct PlannedRoute {
  uint32_t value = dataplane::PrefixTrie::kMiss;
  const std::vector<uint16_t>* ports = nullptr;  // null: none that an override may choose among
};
using PlannedRoutes = std::map<dataplane::Prefix, PlannedRoute>;

struct PortOverride {
  dataplane::Prefix to;
  uint16_t in_port = 0;
  uint16_t out_port = 0;
  uint32_t number = 0;  // of the switch's overrides: a lower one goes before
};

// Adds the sets to `table` and their routes to `routes`. `hop_at`: the adjacency of a port.
void add_overrides(PlannedRoutes& routes, std::span<const PortOverride> overrides,
                   const std::function<uint32_t(uint16_t port)>& hop_at, dataplane::OverrideTable& table);

}  // namespace softspine::control
