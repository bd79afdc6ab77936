// SPDX-License-Identifier: Apache-2.0
// Changes that a NIC may make in a RoCEv2 packet of its host. The packet must be parsed; its meta is updated.
//
//   DSCP          the ICRC reads the whole TOS as ones, so only IPv4's checksum is updated (RFC 1624)
//   source port   the ICRC covers it and is changed by the difference between the right ICRCs of both packets, so that
//                 a wrong ICRC stays wrong. The UDP checksum becomes 0, none, as most adapters send it (for IPv6, too:
//                 the ICRC is the better check; RFC 6936). Packets with IPv4 options are left alone.
#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace softspine::dataplane {

void set_dscp(Packet& packet, uint8_t dscp) noexcept;
void set_source_port(Packet& packet, uint16_t port) noexcept;

}  // namespace softspine::dataplane
