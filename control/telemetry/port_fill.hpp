// SPDX-License-Identifier: Apache-2.0
// What priority groups and queues hold of memory that has a limit, and that limit as it is now: a dynamic one moves
// with what is free. Not in a snapshot, since counters over time would have another value for each frame of anyone.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/units/ids.hpp"

namespace softspine::control {

struct Fill {
  uint64_t bytes = 0;        // shared, and a group's headroom, which is what it holds beyond its limit
  uint64_t limit_bytes = 0;  // of a lossless group: where it raises XOFF. 0: there is none, or it holds nothing
  friend bool operator==(const Fill&, const Fill&) = default;
};

struct PortFill {
  std::array<Fill, dataplane::kPriorities> groups{};
  std::array<Fill, dataplane::kQueues> queues{};  // of a memory in slices: in the slice where it is fullest
};

// By the number of the node and the port; empty for nodes that are no switches, or elsewhere.
using PortFills = std::vector<std::vector<PortFill>>;

}  // namespace softspine::control
