// SPDX-License-Identifier: Apache-2.0
// What one direction of a link has carried: plain integers, counted by its transmitter. No DPDK.
//
//   packets + injected = received at the other end + lost + cut + vanished + damaged + under way
// The receiving end counts what it has received. Packets under way are in its inbox, or in an outbox between workers.
// control/telemetry/audit.hpp checks this equation in every run.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

struct LinkCounters {
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t lost_packets = 0;       // sent while the link was down
  uint64_t cut_packets = 0;        // under way when it went down
  uint64_t vanished_packets = 0;   // by a fault of the link
  uint64_t damaged_packets = 0;    // by a fault of the link: the receiver's FCS errors
  uint64_t injected_packets = 0;   // by hand, behind the transmitter: not in `packets`
  uint64_t lost_flow_packets = 0;  // of all that never arrived: payload of built-in flows

  uint64_t never_arrived() const { return lost_packets + cut_packets + vanished_packets + damaged_packets; }
};

}  // namespace softspine::dataplane
