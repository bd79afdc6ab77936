// SPDX-License-Identifier: Apache-2.0
// A switch's next hops to one host: the ports by which it sends there.
#pragma once

#include <vector>

#include "control/routing/routes.hpp"

namespace softspine::control {

// The group of the host's route, kNone, or RouteTable::kConnected.
inline uint32_t route_to(const Fabric& fabric, const RouteTable& table, uint32_t host) {
  const auto own = table.by_host.find(host);
  if (own != table.by_host.end()) return own->second;
  const uint32_t subnet = fabric.nodes[host].subnet;
  return subnet < table.by_subnet.size() ? table.by_subnet[subnet] : kNone;
}

// Ascending; none if there is no route, or the host is behind the switch itself.
inline const std::vector<uint16_t>& ports_to(const Fabric& fabric, const RouteTable& table, uint32_t host) {
  static const std::vector<uint16_t> kNoPorts;
  const uint32_t route = route_to(fabric, table, host);
  return route == kNone || route == RouteTable::kConnected ? kNoPorts : table.groups[route];
}

// The ports of a node whose links lead to another one.
inline std::vector<uint16_t> ports_between(const Fabric& fabric, uint32_t node, uint32_t peer) {
  std::vector<uint16_t> out;
  for (uint16_t p = 0; p < fabric.nodes[node].ports.size(); ++p) {
    if (fabric.peer_of({node, p}).node == peer) out.push_back(p);
  }
  return out;
}

}  // namespace softspine::control
