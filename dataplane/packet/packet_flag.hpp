// SPDX-License-Identifier: Apache-2.0
// The findings of parse in a frame's headers. Apart from packet.hpp, so that policies can read it without DPDK.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

enum PacketFlag : uint8_t {
  kIsIpv4 = 1 << 0,
  kIsIpv6 = 1 << 1,
  kIsUdp = 1 << 2,
  kIsTcp = 1 << 3,
  kIsRoce = 1 << 4,      // UDP to port 4791 with a whole BTH
  kIsFragment = 1 << 5,  // not the first, or more to come: no layer 4 to hash
  kIsTagged = 1 << 6,    // carries an 802.1Q tag
  kMustAnswer = 1 << 7,  // a drop that LocalAgent answers, by its reason: ICMP error, ARP or ND request
};

inline constexpr uint8_t kHasPorts = kIsUdp | kIsTcp;

}  // namespace softspine::dataplane
