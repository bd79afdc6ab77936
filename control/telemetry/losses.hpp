// SPDX-License-Identifier: Apache-2.0
// Where packets were lost: one entry for each place and reason, the largest first.
//
//   a switch      "tor1:Ethernet0", the port that the packets came in by; for packets that a queue refused (full,
//                 WRED, PFC watchdog) the port and queue that they were bound for: "tor1:Ethernet8 queue 3"
//   a host, edge  "h1", "vm1:eth0 in" (from outside), "vm1:eth0 out" (to the outside)
//   a link        "tor1:Ethernet8 → core1:Ethernet0": link_down (sent into the link, or under way when it went down),
//                 vanished, damaged (faults of the cable)
// Σ over nodes = totals.dropped_packets. Where a switch's queues refused packets for several reasons, all are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

struct Loss {
  std::string place;
  std::string reason;  // queue_full, as drops have it
  uint64_t packets = 0;
};

std::vector<Loss> losses_of(const FabricSnapshot& snapshot);

// The losses of switches, built-in hosts and links, by reason, without a place. Those of queues are apart.
std::vector<Loss> losses_by_reason(const FabricSnapshot& snapshot);

}  // namespace softspine::control
