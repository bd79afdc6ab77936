// SPDX-License-Identifier: Apache-2.0
// The parts of a fabric that each of its tiers joins: a rack below the aggregation tier, a zone or pod below the core.
//
// An island of a tier: the servers that still reach each other when all switches of this tier and of those above it are
// taken away. A server with NICs at several ToRs makes one island of what is behind them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

struct Server {
  std::string_view name;
  std::vector<uint32_t> nics;  // nodes, in the fabric's order
};

// Built-in hosts by the machine that they are in, in the fabric's order.
std::vector<Server> servers_of(const Fabric& fabric);

struct TierIslands {
  Role role = Role::kCore;  // of the tier's switches
  uint32_t islands = 0;
  std::vector<uint32_t> island_of;     // by server
  std::vector<double> oversubscribed;  // by island: rates of its hosts' links / those of its links to the tier
};

// From the top; without the lowest tier, below which each server is alone.
std::vector<TierIslands> islands_of(const Fabric& fabric, const std::vector<Server>& servers);

}  // namespace softspine::control
