// SPDX-License-Identifier: Apache-2.0
// A link aggregation group between two switches: parallel links that routing takes as one.
//
//   up     a member belongs to the group while it has a link and, with LACP, both ends have agreed on it; the group is
//          up while it has min_links members
//   way    routes lead to its first port at each switch, whichever of its members are there; which member a packet
//          takes is a second choice, by the profile's lag_hash (dataplane/forwarding/lag_table.hpp)
//
// Queues, pauses and counters are those of its ports.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace softspine::control {

enum class LagMode : uint8_t { kStatic, kLacp };

struct Lag {
  std::string name;
  std::array<uint32_t, 2> nodes{};               // switches, as the file has them
  std::array<std::vector<uint16_t>, 2> ports{};  // of each, ascending
  std::vector<uint32_t> links;                   // of the fabric, ascending
  uint32_t min_links = 1;
  LagMode mode = LagMode::kStatic;
  bool agreed = false;                                // LACP: both ends have, before the run begins
  std::array<bool, 2> fast_rate{};                    // LACP, of each: asks for a LACPDU each second, not every 30 s
  uint8_t retry_count = 3;                            // LACP: periods of silence until the partner is given up
  std::array<std::optional<uint16_t>, 2> lacp_key{};  // of each; none: the LAG's place among all, from 1
  std::array<std::string, 2> own_name;                // of each: what its own configuration calls it; empty: `name`

  // `is_member`: of a link.
  template <typename Is>
  bool is_up(Is&& is_member) const {
    return std::ranges::count_if(links, is_member) >= min_links;
  }
  size_t end_at(uint32_t node) const { return node == nodes[0] ? 0 : 1; }
  const std::vector<uint16_t>& ports_at(uint32_t node) const { return ports[end_at(node)]; }
  const std::string& name_at(uint32_t node) const {
    const std::string& own = own_name[end_at(node)];
    return own.empty() ? name : own;
  }
};

}  // namespace softspine::control
