// SPDX-License-Identifier: Apache-2.0
// Packets that have passed an edge, seen from the fabric, and the errors of setting one up and of running it.
//
//   brought by the outside = in_packets + Σ in_drops
//   arrived from the fabric = out_packets + Σ out_drops + held (for the outside to take: Nic::waiting_for_outside)
#pragma once

#include <cstdint>
#include <string>

#include "dataplane/packet/drop_reason.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct EdgeCounters {
  uint64_t in_packets = 0;  // from outside, put on the link
  uint64_t in_bytes = 0;
  uint64_t out_packets = 0;  // from the link, taken by the outside
  uint64_t out_bytes = 0;
  uint64_t held_bytes_max = 0;        // the most that ever waited for the outside
  uint64_t pauses = 0;                // polls at which the outside was not asked, since the link was behind
  uint64_t arrived_packets = 0;       // over the link, from the fabric
  uint64_t arrived_flow_packets = 0;  // of those: payload of built-in flows, which ends here for them
  DropCounters in_drops{};
  DropCounters out_drops{};
};

// `where`: a device, a file, a socket. `message`: the call that failed, and its error.
struct EdgeError {
  std::string where;
  std::string message;
};

// An error of a running edge, and since when it exists.
struct EdgeFault {
  EdgeError error;
  Instant at;
};

}  // namespace softspine::dataplane
