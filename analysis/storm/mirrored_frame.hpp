// SPDX-License-Identifier: Apache-2.0
// Frames that a switch mirrored and sent to a collector over IP: ERSPAN, and what chips make of it.
//
//   Ethernet, tags | IPv4 or IPv6 | GRE 4, and 4 each for its checksum, key and sequence number | header | the frame
//
//   GRE's protocol    the mirror's header
//   0x88be            ERSPAN I: none. II, if GRE has a sequence number: 8 bytes
//   0x22eb            ERSPAN III: 12 bytes, and 8 more if the last bit of the twelfth is set
//   0x6558, 0x8949    none known: Ethernet in GRE, and what Spectrum chips send
//
// Version: the first 4 bits of the header, 1 for II, 2 for III. Session: the last 10 bits of its first 4 bytes.
// Chips put headers of their own between GRE and the frame, and their lengths are on no page. So where the frame does
// not begin with a pause frame, one is looked for by its destination in the kMaxHeaderBytes next bytes.
// Source: draft-foschiano-erspan-03, RFC 2890.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace softspine::analysis::storm {

struct MirroredFrame {
  static constexpr size_t kMaxHeaderBytes = 64;

  std::span<const uint8_t> bytes;    // of the frame, from its destination on, as far as it was captured
  std::span<const uint8_t> address;  // whom the packet is from: 4 or 16 bytes
  std::optional<uint16_t> session = {};

  // The name of its place: "10.0.0.1:session 5", or "10.0.0.1:mirror".
  std::string place() const;
};

// `frame`: from the destination's MAC address on. No value: nothing mirrored, or too short to be recognised.
std::optional<MirroredFrame> read_mirrored(std::span<const uint8_t> frame);

}  // namespace softspine::analysis::storm
