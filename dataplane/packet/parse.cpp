// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/parse.hpp"

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/wire.hpp"

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

bool is_bad_ipv4_source(uint8_t first) {
  return first >= 0xe0 || first == 127 || first == 0;
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

}  // namespace

void parse(Packet& packet) noexcept {
  parse_one(packet);
}

void parse(Burst& burst) noexcept {
  for (Packet& packet : burst) parse_one(packet);
}

}  // namespace softspine::dataplane
