// SPDX-License-Identifier: Apache-2.0
// Reads a frame's headers once, checked, and writes what the stages need into its meta.
//
// Fills ether_type, vlan (when tagged), flags, l3_offset, l4_offset, ip_protocol, dscp_ecn.
// A faulty IP header does not end the frame here, since it matters to routing and not to bridging. The fault stands
// in meta.reason (kCount: none) for the route stage.
//
// Parse itself ends MAC control and frames too short for Ethernet (verdict). A header counts as present only if it
// lies in the stored bytes; lengths are compared with the frame's.
#pragma once

#include "dataplane/packet/burst.hpp"

namespace softspine::dataplane {

// Of an IP packet with ports and no fault the findings stay true wherever switches forward it: the next switch does not
// read it again (is_sound). Only a burst's packets become sound: what is parsed by itself may still be changed.
void parse(Packet& packet) noexcept;
void parse(Burst& burst) noexcept;

inline bool is_bad_ipv4_source(uint8_t first) {
  return first >= 0xe0 || first == 127 || first == 0;
}

// The BTH of a packet with kIsRoce; no other packet has one.
inline const uint8_t* bth_of(const Packet& packet) {
  return packet.data() + packet.meta().l4_offset + 8;
}

}  // namespace softspine::dataplane
