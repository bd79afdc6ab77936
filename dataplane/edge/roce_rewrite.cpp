// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/roce_rewrite.hpp"

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/icrc.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

void set_dscp(Packet& packet, uint8_t dscp) noexcept {
  PacketMeta& meta = packet.meta();
  uint8_t* l3 = packet.data() + meta.l3_offset;
  const auto tos = static_cast<uint8_t>(dscp << 2 | (meta.dscp_ecn & ip::kEcnMask));
  if ((meta.flags & kIsIpv4) != 0) {
    const uint16_t before = load16(l3);
    l3[ipv4::kTos] = tos;
    store16(l3 + ipv4::kChecksum, updated_checksum(load16(l3 + ipv4::kChecksum), before, load16(l3)));
  } else if ((meta.flags & kIsIpv6) != 0) {
    constexpr uint32_t kClass = 0xffU << ipv6::kTrafficClassShift;
    store32(l3, (load32(l3) & ~kClass) | uint32_t{tos} << ipv6::kTrafficClassShift);
  } else {
    return;
  }
  meta.dscp_ecn = tos;
}

void set_source_port(Packet& packet, uint16_t port) noexcept {
  const PacketMeta& meta = packet.meta();
  const bool is_v4 = (meta.flags & kIsIpv4) != 0;
  const uint32_t l3_bytes = is_v4 ? ipv4::kMinBytes : ipv6::kBytes;
  if (uint32_t{meta.l3_offset} + l3_bytes != meta.l4_offset) return;
  uint8_t* l3 = packet.data() + meta.l3_offset;
  uint8_t* udp = packet.data() + meta.l4_offset;
  const uint16_t before = load16(udp + udp::kSourcePort);
  if (before == port) return;
  const uint32_t ip_bytes = is_v4 ? load16(l3 + ipv4::kTotalLength) : ipv6::kBytes + load16(l3 + ipv6::kPayloadLength);
  const uint32_t elided = packet.elided_bytes();
  const uint32_t covered = ip_bytes - elided - kIcrcBytes;
  if (uint32_t{meta.l3_offset} + covered + kIcrcBytes > packet.stored_bytes()) return;
  const IpVersion version = is_v4 ? IpVersion::k4 : IpVersion::k6;
  const uint32_t right_before = icrc_of(l3, covered, elided, version);
  store16(udp + udp::kSourcePort, port);
  const uint32_t change = right_before ^ icrc_of(l3, covered, elided, version);
  store_icrc(l3 + covered, load_icrc(l3 + covered) ^ change);
  store16(udp + udp::kChecksum, 0);
}

}  // namespace softspine::dataplane
