// SPDX-License-Identifier: Apache-2.0
// By what a routed packet is known again at another place of the fabric: the IP header, and as much behind it as UDP
// and a RoCE transport header take, without what a hop changes (TTL, DSCP and ECN, IPv4's checksum).
//
//   IPv4: 40 bytes from its first on, IPv6: 60. A frame that was captured shorter than that has no mark, nor has one
//   that goes to a group, or one that is not IP. VLAN tags are passed over.
//
// The place with the larger TTL saw it first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace softspine::analysis::storm {

struct FrameMark {
  uint64_t key = 0;
  uint8_t hops_left = 0;
  uint64_t source = 0;       // MAC
  uint64_t destination = 0;  // MAC
};

// `frame`: from the destination's MAC address on.
std::optional<FrameMark> mark_of(std::span<const uint8_t> frame);

}  // namespace softspine::analysis::storm
