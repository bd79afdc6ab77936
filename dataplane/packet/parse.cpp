// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/parse.hpp"

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

// A layer-3 header and what follows it: how much of it is in memory, how much the frame has.
struct Layer3 {
  const uint8_t* header;
  uint32_t stored_bytes;
  uint32_t frame_bytes;
};

// A frame's contents, held in registers until all is known: a byte stored into the meta could be part of
// any object, for all the compiler knows, and everything would have to be loaded again.
struct Found {
  uint32_t flags = 0;
  uint8_t ip_protocol = 0;
  uint8_t dscp_ecn = 0;
  DropReason fault = DropReason::kCount;
  uint32_t header_bytes = 0;  // of layer 3; 0: nothing behind it can be read
};

Found faulty(DropReason reason) {
  return {.fault = reason};
}

// The 20 bytes without options, which is nearly every header: five words, no loop.
bool has_good_plain_checksum(const uint8_t* h) {
  uint64_t a;
  uint64_t b;
  uint32_t c;
  std::memcpy(&a, h, 8);
  std::memcpy(&b, h + 8, 8);
  std::memcpy(&c, h + 16, 4);
  uint64_t sum = (a & 0xffffffff) + (a >> 32) + (b & 0xffffffff) + (b >> 32) + c;
  sum = (sum >> 32) + (sum & 0xffffffff);  // ≤ 2^32 + 3
  sum = (sum >> 16) + (sum & 0xffff);      // ≤ 2 × 0xffff
  return ((sum >> 16) + (sum & 0xffff)) == 0xffff;
}

// Apart from the usual case: its vectors would cost that one a frame on the stack.
[[gnu::noinline]] bool has_good_checksum_with_options(const uint8_t* header, uint32_t bytes) {
  return has_good_ipv4_checksum(header, bytes);
}

// `end`: of the IP packet, counted from the start of layer 3 like the header's bytes.
uint32_t layer4_flags(const Layer3& l3, uint32_t header_bytes, uint8_t protocol, uint32_t end) {
  constexpr uint32_t kRoceBytes = udp::kBytes + bth::kBytes;
  if (protocol == ip::kUdp) [[likely]] {
    if (header_bytes + udp::kBytes > l3.stored_bytes) return 0;
    const bool is_roce = load16(l3.header + header_bytes + udp::kDestinationPort) == udp::kRoceV2Port &&
                         header_bytes + kRoceBytes <= l3.stored_bytes && header_bytes + kRoceBytes + kIcrcBytes <= end;
    return is_roce ? kIsUdp | kIsRoce : uint32_t{kIsUdp};
  }
  return protocol == ip::kTcp && header_bytes + 4 <= l3.stored_bytes ? uint32_t{kIsTcp} : 0;
}

inline Found parse_ipv4(const Layer3& l3) {
  const uint8_t* h = l3.header;
  if (ipv4::kMinBytes > l3.stored_bytes) return faulty(DropReason::kTruncated);
  const uint32_t header_bytes = (h[ipv4::kVersionIhl] & 0x0fU) * 4;
  if (h[ipv4::kVersionIhl] >> 4 != 4 || header_bytes < ipv4::kMinBytes) return faulty(DropReason::kBadVersion);
  if (header_bytes > l3.stored_bytes) return faulty(DropReason::kTruncated);
  const uint32_t total = load16(h + ipv4::kTotalLength);
  if (total < header_bytes || total > l3.frame_bytes) return faulty(DropReason::kBadLength);
  const bool good =
      header_bytes == ipv4::kMinBytes ? has_good_plain_checksum(h) : has_good_checksum_with_options(h, header_bytes);
  if (!good) return faulty(DropReason::kBadChecksum);
  const bool is_fragment = (load16(h + ipv4::kFragment) & (ipv4::kMoreFragments | ipv4::kFragmentOffsetMask)) != 0;
  const uint32_t rest = is_fragment ? uint32_t{kIsFragment} : layer4_flags(l3, header_bytes, h[ipv4::kProtocol], total);
  return {.flags = kIsIpv4 | rest,
          .ip_protocol = h[ipv4::kProtocol],
          .dscp_ecn = h[ipv4::kTos],
          .fault = is_bad_ipv4_source(h[ipv4::kSource]) ? DropReason::kBadSource : DropReason::kCount,
          .header_bytes = header_bytes};
}

// Extension headers are not followed: like most switches, layer 4 is what the first header names.
[[gnu::noinline]] Found parse_ipv6(Layer3 l3) {
  const uint8_t* h = l3.header;
  if (ipv6::kBytes > l3.stored_bytes) return faulty(DropReason::kTruncated);
  if (h[0] >> 4 != 6) return faulty(DropReason::kBadVersion);
  const uint32_t total = ipv6::kBytes + load16(h + ipv6::kPayloadLength);
  if (total > l3.frame_bytes) return faulty(DropReason::kBadLength);
  constexpr uint8_t kFragmentHeader = 44;
  const uint8_t protocol = h[ipv6::kNextHeader];
  const uint32_t rest =
      protocol == kFragmentHeader ? uint32_t{kIsFragment} : layer4_flags(l3, ipv6::kBytes, protocol, total);
  return {.flags = kIsIpv6 | rest,
          .ip_protocol = protocol,
          .dscp_ecn = static_cast<uint8_t>(load16(h) >> 4),
          .fault = h[ipv6::kSource] == 0xff ? DropReason::kBadSource : DropReason::kCount,
          .header_bytes = ipv6::kBytes};
}

void end(PacketMeta& meta, DropReason reason) {
  meta.verdict = Verdict::kDrop;
  meta.reason = reason;
  meta.flags = 0;
  meta.dscp_ecn = 0;
  meta.ip_protocol = 0;
  meta.ether_type = 0;
}

inline void parse_one(Packet& packet) {
  PacketMeta& meta = packet.meta();
  const uint8_t* data = packet.data();
  const uint32_t stored = packet.stored_bytes();
  const uint32_t frame_bytes = meta.frame_bytes;
  if (stored < ethernet::kBytes || frame_bytes > kMaxFrameBytes) [[unlikely]] {
    return end(meta, frame_bytes > kMaxFrameBytes ? DropReason::kOversize : DropReason::kTruncated);
  }
  uint32_t l3 = ethernet::kBytes;
  uint16_t type = load16(data + ethernet::kType);
  uint32_t tagged = 0;
  if (type == ethernet::kTypeVlan) {
    if (stored < ethernet::kBytes + ethernet::kTagBytes) return end(meta, DropReason::kTruncated);
    tagged = kIsTagged;
    meta.vlan = load16(data + ethernet::kTci);
    l3 += ethernet::kTagBytes;
    type = load16(data + ethernet::kBytes + ethernet::kTagBytes - 2);
  }
  const Layer3 layer3{data + l3, stored - l3, frame_bytes - l3};
  Found found;
  if (type == ethernet::kTypeIpv4) [[likely]] {
    found = parse_ipv4(layer3);
  } else if (type == ethernet::kTypeIpv6) {
    found = parse_ipv6(layer3);
  }
  meta.ether_type = type;
  meta.l3_offset = static_cast<uint16_t>(l3);
  meta.l4_offset = found.header_bytes == 0 ? uint16_t{0} : static_cast<uint16_t>(l3 + found.header_bytes);
  meta.verdict = type == ethernet::kTypeMacControl ? Verdict::kMacControl : Verdict::kContinue;
  meta.reason = found.fault;
  meta.flags = static_cast<uint8_t>(found.flags | tagged);
  meta.ip_protocol = found.ip_protocol;
  meta.dscp_ecn = found.dscp_ecn;
}

// The usual frame: untagged, IPv4 without options and fragments, UDP or TCP, no fault. Fewer questions, the same
// findings: false if it is another.
[[gnu::always_inline]] inline bool parse_usual(Packet& packet) {
  constexpr uint32_t kHeaders = ethernet::kBytes + ipv4::kMinBytes + udp::kBytes;
  constexpr uint32_t kTypeAndVersion = 0x450008;  // bytes 08 00 45
  constexpr uint16_t kPart = 0xff3f;              // of the fragment's word, as memory has it: more to come, offset
  constexpr uint16_t kRocePort = __builtin_bswap16(udp::kRoceV2Port);
  PacketMeta& meta = packet.meta();
  const uint32_t stored = packet.stored_bytes();
  const uint32_t frame_bytes = meta.frame_bytes;
  const uint8_t* data = packet.data();
  if (stored < kHeaders || frame_bytes > kMaxFrameBytes) [[unlikely]]
    return false;
  const uint8_t* h = data + ethernet::kBytes;
  uint32_t first;
  uint16_t fragment;
  std::memcpy(&first, data + ethernet::kType, sizeof first);
  std::memcpy(&fragment, h + ipv4::kFragment, sizeof fragment);
  const uint32_t total = load16(h + ipv4::kTotalLength);
  const uint8_t protocol = h[ipv4::kProtocol];
  if ((first & 0xffffff) != kTypeAndVersion || (fragment & kPart) != 0 || total < ipv4::kMinBytes ||
      total > frame_bytes - ethernet::kBytes || !has_good_plain_checksum(h) || is_bad_ipv4_source(h[ipv4::kSource]))
    return false;
  uint8_t flags = kIsIpv4 | kIsTcp;
  if (protocol == ip::kUdp) [[likely]] {
    constexpr uint32_t kWhole = kHeaders + bth::kBytes;
    uint16_t port;
    std::memcpy(&port, h + ipv4::kMinBytes + udp::kDestinationPort, sizeof port);
    const bool is_roce = port == kRocePort && stored >= kWhole && total >= kWhole + kIcrcBytes - ethernet::kBytes;
    flags = is_roce ? kIsIpv4 | kIsUdp | kIsRoce : kIsIpv4 | kIsUdp;
  } else if (protocol != ip::kTcp) {
    return false;
  }
  meta.ether_type = ethernet::kTypeIpv4;
  meta.l3_offset = ethernet::kBytes;
  meta.l4_offset = ethernet::kBytes + ipv4::kMinBytes;
  meta.verdict = Verdict::kContinue;
  meta.reason = DropReason::kCount;
  meta.flags = flags;
  meta.ip_protocol = protocol;
  meta.dscp_ecn = static_cast<uint8_t>(first >> 24);
  meta.is_sound = true;
  return true;
}

// What is said of a sound packet is what its bytes say.
void doubt(Packet& packet) {
  const PacketMeta believed = packet.meta();
  parse_one(packet);
  PacketMeta& found = packet.meta();
  SOFTSPINE_CHECK(found.reason == DropReason::kCount && found.verdict == Verdict::kContinue, found.reason,
                  found.verdict);
  SOFTSPINE_CHECK(found.ether_type == believed.ether_type, found.ether_type, believed.ether_type);
  SOFTSPINE_CHECK(found.l3_offset == believed.l3_offset, found.l3_offset, believed.l3_offset);
  SOFTSPINE_CHECK(found.l4_offset == believed.l4_offset, found.l4_offset, believed.l4_offset);
  SOFTSPINE_CHECK(found.flags == believed.flags, found.flags, believed.flags);
  SOFTSPINE_CHECK(found.ip_protocol == believed.ip_protocol, found.ip_protocol, believed.ip_protocol);
  SOFTSPINE_CHECK(found.dscp_ecn == believed.dscp_ecn, found.dscp_ecn, believed.dscp_ecn);
  found = believed;
}

}  // namespace

void parse(Packet& packet) noexcept {
  parse_one(packet);
}

void parse(Burst& burst) noexcept {
  for (Packet& packet : burst) {
    PacketMeta& meta = packet.meta();
    if (meta.is_sound && meta.frame_bytes <= kMaxFrameBytes) [[likely]] {
      if constexpr (kDoubts) doubt(packet);
      if ((meta.flags & kIsTagged) != 0) meta.vlan = load16(packet.data() + ethernet::kTci);
      meta.verdict = Verdict::kContinue;
      continue;
    }
    if (parse_usual(packet)) [[likely]]
      continue;
    parse_one(packet);
    meta.is_sound = (meta.flags & kHasPorts) != 0 && meta.reason == DropReason::kCount;
  }
}

}  // namespace softspine::dataplane
