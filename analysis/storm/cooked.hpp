// SPDX-License-Identifier: Apache-2.0
// Frames of `tcpdump -i any`: Linux's "cooked" captures, SLL (link type 113) and SLL2 (276). The kernel has removed the
// Ethernet header and puts a header of its own in its place:
//
//   SLL    packet type 2 | ARPHRD 2 | address length 2 | address 8 | protocol 2                                16 bytes
//   SLL2   protocol 2 | reserved 2 | interface 4 | ARPHRD 2 | packet type 1 | address length 1 | address 8     20 bytes
//
// All big endian. The address is the sender's. Frames of packet type 4 were sent by this machine, others received. SLL
// does not name the interface, so all interfaces of a machine are one here.
// Source: libpcap's LINKTYPE_LINUX_SLL and LINKTYPE_LINUX_SLL2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "analysis/storm/capture_reader.hpp"

namespace softspine::analysis::storm {

constexpr bool is_cooked(uint16_t link_type) {
  return link_type == 113 || link_type == 276;
}

struct CookedFrame {
  Way way = Way::kUnknown;
  uint32_t interface = 0;  // its number on the machine; 0: not said
  // The frame with an Ethernet header, whose destination is zero; cut where a pause frame ends that was mirrored.
  std::array<uint8_t, 256> ethernet{};
  size_t bytes = 0;
};

// No value: the frame is too short, or not from Ethernet.
std::optional<CookedFrame> read_cooked(uint16_t link_type, std::span<const uint8_t> frame);

}  // namespace softspine::analysis::storm
