// SPDX-License-Identifier: Apache-2.0
// The packet inside a tunnel, for the hash's INNER_* fields:
//
//   VXLAN       UDP to 4789, 8 bytes of VXLAN whose flag I is set, then Ethernet                     (RFC 7348)
//   NVGRE, GRE  protocol 47, version 0 without routing, 4 bytes and 4 more for each of checksum, key and sequence
//               number, then Ethernet (type 0x6558) or IP                                  (RFC 7637, 2784, 2890)
//   IP in IP    protocol 4, then IPv4; protocol 41, then IPv6                                  (RFC 2003, 2473)
//
// One level: a tunnel inside of a tunnel is not looked into. Inner headers count as far as they are in memory. An inner
// frame may have one 802.1Q tag; inner ports are of whole UDP and TCP packets, as outside (parse.hpp). A fragment has
// no inner packet.
#pragma once

#include "dataplane/hashing/key_part.hpp"

namespace softspine::dataplane {

struct InnerHeaders {
  HeaderView view{};          // without flags if there are none
  bool has_ethernet = false;  // not inside of an IP packet
};

InnerHeaders inner_of(const HeaderView& outer) noexcept;

}  // namespace softspine::dataplane
