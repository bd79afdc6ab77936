// SPDX-License-Identifier: Apache-2.0
// The ports behind a next hop: one, or those of its LAG's members; and those behind a group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dataplane/forwarding/forwarding_state.hpp"

namespace softspine::analysis {

inline std::vector<uint16_t> ports_of(const dataplane::ForwardingState& state, uint32_t next_hop) {
  const uint16_t port = state.adjacencies[next_hop].port;
  if (!dataplane::is_lag(port)) return {port};
  const auto members = state.lags->members_of(port);
  return {members.begin(), members.end()};
}

// The port that stands for a next hop in the routes: its own, or its LAG's first.
inline uint16_t way_at(const dataplane::ForwardingState& state, uint32_t next_hop) {
  const uint16_t port = state.adjacencies[next_hop].port;
  return dataplane::is_lag(port) ? state.lags->lag_at(port).way : port;
}

inline void sort_once(std::vector<uint16_t>& ports) {
  std::ranges::sort(ports);
  const auto repeated = std::ranges::unique(ports);
  ports.erase(repeated.begin(), repeated.end());
}

// Ascending.
inline std::vector<uint16_t> ports_of(const dataplane::ForwardingState& state, const dataplane::EcmpGroup& group) {
  std::vector<uint16_t> out;
  for (uint32_t b = 0; b < group.count + group.live; ++b) {
    const uint32_t member = state.members[group.first + b];
    if (member == dataplane::kDeadMember) continue;
    const std::vector<uint16_t> ports = ports_of(state, member);
    out.insert(out.end(), ports.begin(), ports.end());
  }
  sort_once(out);
  return out;
}

// Ascending.
inline std::vector<uint16_t> ways_of(const dataplane::ForwardingState& state, const dataplane::EcmpGroup& group) {
  std::vector<uint16_t> out;
  for (uint32_t b = 0; b < group.count; ++b) out.push_back(way_at(state, state.members[group.first + b]));
  sort_once(out);
  return out;
}

}  // namespace softspine::analysis
