// SPDX-License-Identifier: Apache-2.0
// Frames of one TCP flow, built byte by byte from the RFCs, with checksums of their own.
#pragma once

#include <optional>

#include "tests/scenario/switch/frames.hpp"

namespace softspine::tests {

inline constexpr uint8_t kFin = 0x01;
inline constexpr uint8_t kPush = 0x08;
inline constexpr uint8_t kAck = 0x10;
inline constexpr uint8_t kReduced = 0x80;  // CWR

struct TcpFrame {
  bool is_ipv6 = false;
  std::optional<uint16_t> tag = {};
  uint16_t from_port = 5000;
  uint32_t sequence = 0;
  uint32_t acknowledgement = 77;
  uint8_t flags = kAck;
  uint16_t window = 500;
  uint16_t id = 0;
  uint8_t tos = 0x02;
  Bytes options = {1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 5};  // timestamps
  Bytes payload = {};

  Bytes from() const { return is_ipv6 ? ip6(1, 2) : ip4("10.0.1.2"); }
  Bytes to() const { return is_ipv6 ? ip6(1, 3) : ip4("10.0.1.3"); }
};

inline Bytes tcp_segment(const TcpFrame& it, uint16_t checksum) {
  const auto words = static_cast<uint8_t>((20 + it.options.size()) / 4);
  return join({be16(it.from_port),
               be16(80),
               be32(it.sequence),
               be32(it.acknowledgement),
               {static_cast<uint8_t>(words << 4), it.flags},
               be16(it.window),
               be16(checksum),
               be16(0),
               it.options,
               it.payload});
}
inline Bytes pseudo_header(const TcpFrame& it) {
  const auto bytes = static_cast<uint32_t>(20 + it.options.size() + it.payload.size());
  return join({it.from(), it.to(), be32(bytes), be32(6)});  // IPv4's has the same sum
}
inline Bytes frame_around(const TcpFrame& it, const Bytes& segment) {
  const Bytes packet =
      it.is_ipv6 ? ipv6_packet({.from = it.from(), .to = it.to(), .next_header = 6, .traffic_class = it.tos}, segment)
                 : ipv4_packet({.from = it.from(),
                                .to = it.to(),
                                .protocol = 6,
                                .tos = it.tos,
                                .id = it.id,
                                .fragment = 0x4000,
                                .options = {}},
                               segment);
  const uint16_t type = it.is_ipv6 ? 0x86dd : 0x0800;
  return it.tag ? tagged_frame(station(9), station(1), *it.tag, type, packet)
                : ethernet_frame(station(9), station(1), type, packet);
}
inline Bytes tcp_frame(const TcpFrame& it) {
  return frame_around(it, tcp_segment(it, internet_checksum(join({pseudo_header(it), tcp_segment(it, 0)}))));
}
// As the kernel leaves it to a NIC that does TSO, or completes checksums.
inline Bytes unfinished_frame(const TcpFrame& it) {
  return frame_around(it, tcp_segment(it, static_cast<uint16_t>(~internet_checksum(pseudo_header(it)))));
}
inline uint16_t l4_offset_of(const TcpFrame& it) {
  return static_cast<uint16_t>(14 + (it.tag ? 4 : 0) + (it.is_ipv6 ? 40 : 20));
}

// The frames that carry `whole` over a link, `most` bytes of payload in each.
inline std::vector<TcpFrame> segments_of(const TcpFrame& whole, size_t most) {
  std::vector<TcpFrame> frames;
  for (size_t at = 0; at < whole.payload.size(); at += most) {
    TcpFrame one = whole;
    const size_t end = std::min(whole.payload.size(), at + most);
    one.payload.assign(whole.payload.begin() + static_cast<std::ptrdiff_t>(at),
                       whole.payload.begin() + static_cast<std::ptrdiff_t>(end));
    one.sequence += static_cast<uint32_t>(at);
    one.id = static_cast<uint16_t>(one.id + frames.size());
    if (end != whole.payload.size()) one.flags &= static_cast<uint8_t>(~(kFin | kPush));
    if (at != 0) one.flags &= static_cast<uint8_t>(~kReduced);
    frames.push_back(one);
  }
  return frames;
}

// Payload without a pattern that a sum would not see.
inline Bytes mixed(size_t count) {
  Bytes bytes(count);
  uint32_t state = 12345;
  for (uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

}  // namespace softspine::tests
