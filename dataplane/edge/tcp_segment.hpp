// SPDX-License-Identifier: Apache-2.0
// A frame that is one whole TCP segment: where its headers lie. For edges that cut and join segments.
#pragma once

#include <optional>

#include "dataplane/edge/payload_sum.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace tcp {  // RFC 9293
inline constexpr uint32_t kPorts = 0;
inline constexpr uint32_t kSequence = 4;
inline constexpr uint32_t kAcknowledgement = 8;
inline constexpr uint32_t kDataOffset = 12;  // 4 bits: the header's bytes / 4
inline constexpr uint32_t kFlags = 13;
inline constexpr uint32_t kWindow = 14;
inline constexpr uint32_t kChecksum = 16;
inline constexpr uint32_t kUrgent = 18;
inline constexpr uint32_t kMinBytes = 20;
inline constexpr uint8_t kFin = 0x01;
inline constexpr uint8_t kPush = 0x08;
inline constexpr uint8_t kAck = 0x10;
inline constexpr uint8_t kReduced = 0x80;  // CWR

inline uint32_t header_bytes(const uint8_t* l4) {
  return uint32_t{l4[kDataOffset]} >> 4 << 2;
}
}  // namespace tcp

// Behind the Ethernet header and up to two tags; 0: the frame ends before.
inline uint32_t l3_offset_of(const uint8_t* frame, uint32_t bytes) {
  constexpr uint16_t kTypeServiceTag = 0x88a8;
  uint32_t at = ethernet::kBytes;
  for (int tags = 0; tags < 2 && at + ethernet::kTagBytes <= bytes; ++tags) {
    const uint16_t type = load16(frame + at - 2);
    if (type != ethernet::kTypeVlan && type != kTypeServiceTag) break;
    at += ethernet::kTagBytes;
  }
  return at < bytes ? at : 0;
}

struct TcpSegment {
  uint16_t l3;
  uint16_t l4;
  uint16_t payload;        // offset
  uint16_t payload_bytes;  // 0: an acknowledgement
  bool is_ipv4;

  uint32_t frame_bytes() const { return uint32_t{payload} + payload_bytes; }
};

// Empty: it is something else, a fragment, or has IP options or extension headers. The frame may be longer (padding).
inline std::optional<TcpSegment> tcp_segment_in(const uint8_t* frame, uint32_t bytes) {
  const uint32_t l3 = l3_offset_of(frame, bytes);
  if (l3 == 0) return std::nullopt;
  const uint16_t type = load16(frame + l3 - 2);
  const uint8_t* const ip = frame + l3;
  uint32_t l4 = 0;
  uint32_t end = 0;
  if (type == ethernet::kTypeIpv4) {
    l4 = l3 + ipv4::kMinBytes;
    constexpr uint16_t kPartOf = ipv4::kMoreFragments | ipv4::kFragmentOffsetMask;
    if (bytes < l4 || ip[ipv4::kVersionIhl] != 0x45 || ip[ipv4::kProtocol] != ip::kTcp ||
        (load16(ip + ipv4::kFragment) & kPartOf) != 0)
      return std::nullopt;
    end = l3 + load16(ip + ipv4::kTotalLength);
  } else if (type == ethernet::kTypeIpv6) {
    l4 = l3 + ipv6::kBytes;
    if (bytes < l4 || ip[ipv6::kNextHeader] != ip::kTcp) return std::nullopt;
    end = l4 + load16(ip + ipv6::kPayloadLength);
  } else {
    return std::nullopt;
  }
  if (end > bytes || end < l4 + tcp::kMinBytes) return std::nullopt;
  const uint32_t payload = l4 + tcp::header_bytes(frame + l4);
  if (payload < l4 + tcp::kMinBytes || payload > end) return std::nullopt;
  return TcpSegment{.l3 = static_cast<uint16_t>(l3),
                    .l4 = static_cast<uint16_t>(l4),
                    .payload = static_cast<uint16_t>(payload),
                    .payload_bytes = static_cast<uint16_t>(end - payload),
                    .is_ipv4 = type == ethernet::kTypeIpv4};
}

// Of the pseudo header with a TCP length of `tcp_bytes`.
inline uint16_t pseudo_sum(const uint8_t* frame, const TcpSegment& segment, uint32_t tcp_bytes) {
  const uint8_t* const ip = frame + segment.l3;
  ChecksumSum sum;
  segment.is_ipv4 ? sum.add(ip + ipv4::kSource, 8) : sum.add(ip + ipv6::kSource, 32);
  return sum.add_word(ip::kTcp).add_word(static_cast<uint16_t>(tcp_bytes)).folded();
}

// TCP's, and IPv4's of its header.
inline bool has_good_checksums(const uint8_t* frame, const TcpSegment& segment) {
  if (segment.is_ipv4 && !has_good_ipv4_checksum(frame + segment.l3, ipv4::kMinBytes)) return false;
  const uint32_t bytes = segment.frame_bytes() - segment.l4;
  const uint16_t whole = ChecksumSum{}
                             .add_word(pseudo_sum(frame, segment, bytes))
                             .add_word(payload_sum(frame + segment.l4, bytes))
                             .folded();
  return whole == 0xffff;
}

}  // namespace softspine::dataplane
