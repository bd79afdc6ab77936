// SPDX-License-Identifier: Apache-2.0
// What one direction of a link has carried: plain integers, counted by its transmitter. No DPDK.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

struct LinkCounters {
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t lost_packets = 0;      // sent while the link was down
  uint64_t vanished_packets = 0;  // by a fault of the link
  uint64_t damaged_packets = 0;   // by a fault of the link: the receiver's FCS errors
};

}  // namespace softspine::dataplane
