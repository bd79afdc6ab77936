// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/parse.hpp"

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

void fault(PacketMeta& meta, DropReason reason) {
  meta.reason = reason;
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
  sum = (sum >> 32) + (sum & 0xffffffff);
  sum = (sum >> 16) + (sum & 0xffff);
  sum = (sum >> 16) + (sum & 0xffff);
  return ((sum >> 16) + (sum & 0xffff)) == 0xffff;
}

bool is_bad_ipv4_source(uint32_t address) {
  return address >= 0xe0000000 || address >> 24 == 127 || address >> 24 == 0;
}

void parse_layer4(const Packet& packet, PacketMeta& meta, uint32_t l4, uint32_t ip_end) {
  const uint8_t* data = packet.data();
  const uint32_t stored = packet.stored_bytes();
  if (meta.ip_protocol == ip::kUdp) {
    if (l4 + udp::kBytes > stored) return;
    meta.flags |= kIsUdp;
    if (load16(data + l4 + udp::kDestinationPort) == udp::kRoceV2Port && l4 + udp::kBytes + bth::kBytes <= stored &&
        l4 + udp::kBytes + bth::kBytes + kIcrcBytes <= ip_end) {
      meta.flags |= kIsRoce;
    }
  } else if (meta.ip_protocol == ip::kTcp && l4 + 4 <= stored) {
    meta.flags |= kIsTcp;
  }
}

void parse_ipv4(const Packet& packet, PacketMeta& meta, uint32_t l3) {
  const uint8_t* h = packet.data() + l3;
  if (l3 + ipv4::kMinBytes > packet.stored_bytes()) return fault(meta, DropReason::kTruncated);
  const uint32_t header_bytes = (h[ipv4::kVersionIhl] & 0x0fU) * 4;
  if (h[ipv4::kVersionIhl] >> 4 != 4 || header_bytes < ipv4::kMinBytes) return fault(meta, DropReason::kBadVersion);
  if (l3 + header_bytes > packet.stored_bytes()) return fault(meta, DropReason::kTruncated);
  const uint32_t total = load16(h + ipv4::kTotalLength);
  if (total < header_bytes || l3 + total > meta.frame_bytes) return fault(meta, DropReason::kBadLength);
  const bool good =
      header_bytes == ipv4::kMinBytes ? has_good_plain_checksum(h) : has_good_ipv4_checksum(h, header_bytes);
  if (!good) return fault(meta, DropReason::kBadChecksum);
  meta.flags |= kIsIpv4;
  meta.dscp_ecn = h[ipv4::kTos];
  meta.ip_protocol = h[ipv4::kProtocol];
  meta.l4_offset = static_cast<uint16_t>(l3 + header_bytes);
  if (is_bad_ipv4_source(load32(h + ipv4::kSource))) fault(meta, DropReason::kBadSource);
  if ((load16(h + ipv4::kFragment) & (ipv4::kMoreFragments | ipv4::kFragmentOffsetMask)) != 0) {
    meta.flags |= kIsFragment;
    return;
  }
  parse_layer4(packet, meta, l3 + header_bytes, l3 + total);
}

// Extension headers are not followed: like most switches, layer 4 is what the first header says it is.
void parse_ipv6(const Packet& packet, PacketMeta& meta, uint32_t l3) {
  const uint8_t* h = packet.data() + l3;
  if (l3 + ipv6::kBytes > packet.stored_bytes()) return fault(meta, DropReason::kTruncated);
  if (h[0] >> 4 != 6) return fault(meta, DropReason::kBadVersion);
  const uint32_t payload = load16(h + ipv6::kPayloadLength);
  if (l3 + ipv6::kBytes + payload > meta.frame_bytes) return fault(meta, DropReason::kBadLength);
  meta.flags |= kIsIpv6;
  meta.dscp_ecn = static_cast<uint8_t>(load16(h) >> 4);
  meta.ip_protocol = h[ipv6::kNextHeader];
  meta.l4_offset = static_cast<uint16_t>(l3 + ipv6::kBytes);
  if (h[ipv6::kSource] == 0xff) fault(meta, DropReason::kBadSource);
  constexpr uint8_t kFragmentHeader = 44;
  if (meta.ip_protocol == kFragmentHeader) {
    meta.flags |= kIsFragment;
    return;
  }
  parse_layer4(packet, meta, l3 + ipv6::kBytes, l3 + ipv6::kBytes + payload);
}

}  // namespace

void parse(Packet& packet) noexcept {
  PacketMeta& meta = packet.meta();
  meta.verdict = Verdict::kContinue;
  meta.reason = DropReason::kCount;
  meta.flags = 0;
  meta.dscp_ecn = 0;
  meta.ip_protocol = 0;
  meta.ether_type = 0;
  if (packet.stored_bytes() < ethernet::kBytes || meta.frame_bytes > kMaxFrameBytes) [[unlikely]] {
    meta.verdict = Verdict::kDrop;
    meta.reason = meta.frame_bytes > kMaxFrameBytes ? DropReason::kOversize : DropReason::kTruncated;
    return;
  }
  const uint8_t* data = packet.data();
  uint32_t l3 = ethernet::kBytes;
  uint16_t type = load16(data + ethernet::kType);
  if (type == ethernet::kTypeVlan) {
    if (packet.stored_bytes() < ethernet::kBytes + ethernet::kTagBytes) {
      meta.verdict = Verdict::kDrop;
      meta.reason = DropReason::kTruncated;
      return;
    }
    meta.flags |= kIsTagged;
    meta.vlan = load16(data + ethernet::kTci);
    l3 += ethernet::kTagBytes;
    type = load16(data + l3 - 2);
  }
  meta.ether_type = type;
  meta.l3_offset = static_cast<uint16_t>(l3);
  meta.l4_offset = 0;
  if (type == ethernet::kTypeIpv4) {
    parse_ipv4(packet, meta, l3);
  } else if (type == ethernet::kTypeIpv6) {
    parse_ipv6(packet, meta, l3);
  } else if (type == ethernet::kTypeMacControl) {
    meta.verdict = Verdict::kMacControl;
  }
}

}  // namespace softspine::dataplane
