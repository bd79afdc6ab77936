// SPDX-License-Identifier: Apache-2.0
// What a NIC may change in a RoCEv2 packet that its host has made. The packet is parsed, and its meta is kept true.
//
//   DSCP          the ICRC reads the whole TOS as ones: only IPv4's checksum follows (RFC 1624)
//   source port   the ICRC covers it: changed by the difference between the right ones of both packets, so that a wrong
//                 one stays wrong. The UDP checksum becomes 0, none, as most adapters send it (for IPv6, too: the ICRC
//                 is the better check; RFC 6936). Packets with IPv4 options are left alone.
#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace softspine::dataplane {

void set_dscp(Packet& packet, uint8_t dscp) noexcept;
void set_source_port(Packet& packet, uint16_t port) noexcept;

}  // namespace softspine::dataplane
