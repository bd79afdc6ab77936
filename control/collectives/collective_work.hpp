// SPDX-License-Identifier: Apache-2.0
// What a rank does for a collective, and whom it sends to.
//
// A shape has ranks ≥ 2, channels ≥ 1, root < ranks, an algorithm that fits (collective_algorithms.hpp) and a protocol:
// no kAuto, which choose() replaces (choice.hpp). A collective of no bytes has no operations.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control/collectives/collective_stream.hpp"
#include "control/model/collective.hpp"

namespace softspine::control {

std::unique_ptr<CollectiveStream> stream_of(const CollectiveShape& shape, uint32_t rank);

// With so many operations open at once no rank waits for ever, even if a send ends no sooner than its receive has
// started: those of slices + 1 steps of all lanes. A receive stands at most a chunk's slices behind its send.
uint32_t least_window(const CollectiveShape& shape, uint32_t rank);

struct CollectiveConnection {
  uint32_t peer = 0;
  uint32_t channel = 0;
  uint64_t messages = 0;
  uint64_t bytes = 0;    // on the wire
  uint64_t largest = 0;  // message, on the wire

  bool operator==(const CollectiveConnection&) const = default;
};

// Those that the rank sends on, by channel and peer. All of its steps are made once for that.
std::vector<CollectiveConnection> connections_of(const CollectiveShape& shape, uint32_t rank);

}  // namespace softspine::control
