// SPDX-License-Identifier: Apache-2.0
// The parts of a fabric that each of its tiers joins: a rack below the aggregation tier, a zone or pod below the core.
//
// A part of a tier: the NICs that still reach each other when all switches of this tier and of those above it are taken
// away. Traffic from one part to another crosses the tier. A server whose NICs are at several ToRs, as a rail
// each, is in several parts. An island is what servers hold together: the parts that any server has NICs in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "control/model/fabric.hpp"

namespace softspine::control {

struct PlacedServer {
  std::string_view name;
  std::vector<uint32_t> nics;  // nodes, in the fabric's order
};

// Built-in hosts by the machine that they are in, in the fabric's order.
std::vector<PlacedServer> servers_of(const Fabric& fabric);

struct TierIslands {
  Role role = Role::kCore;  // of the tier's switches
  uint32_t islands = 0;
  std::vector<uint32_t> island_of;  // by server
  uint32_t parts = 0;
  std::vector<std::vector<uint32_t>> part_of;  // by server and NIC
  std::vector<double> oversubscribed;          // by part: rates of its hosts' links / those of its links to the tier
};

// From the top; without the lowest tier, below which each server is alone.
std::vector<TierIslands> islands_of(const Fabric& fabric, const std::vector<PlacedServer>& servers);

// The rail of each NIC of a server, for servers that have as many NICs. Two rails have no part in common on any of
// these servers: what is sent between them crosses the tier wherever it is sent from. Without rails all are of one.
std::vector<uint32_t> rails_of(const TierIslands& tier, std::span<const uint32_t> servers);

}  // namespace softspine::control
