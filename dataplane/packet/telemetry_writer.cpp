// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/telemetry_writer.hpp"

#include "dataplane/packet/icrc.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

void add_telemetry(Packet& packet, const telemetry::Hop& hop) noexcept {
  const PacketMeta& meta = packet.meta();
  if ((meta.flags & kIsRoce) == 0) return;
  const bool is_v4 = (meta.flags & kIsIpv4) != 0;
  const IpVersion version = is_v4 ? IpVersion::k4 : IpVersion::k6;
  uint8_t* const l3 = packet.data() + meta.l3_offset;
  const uint32_t headers = roce_header_bytes(version);
  const uint8_t* const base = l3 + headers - bth::kBytes;
  if (is_v4 && l3[ipv4::kVersionIhl] != 0x45) return;
  if ((base[bth::kCongestion] & telemetry::kBthBit) == 0) return;
  const uint32_t ip_bytes = is_v4 ? load16(l3 + ipv4::kTotalLength) : ipv6::kBytes + load16(l3 + ipv6::kPayloadLength);
  const uint32_t stored = packet.stored_bytes() - meta.l3_offset;
  const uint32_t field = headers + telemetry::extension_of(base[bth::kOpcode]);
  if (ip_bytes != stored + packet.elided_bytes() || field + telemetry::kBytes + kIcrcBytes > stored) return;
  const uint32_t covered = stored - kIcrcBytes;
  const uint32_t before = icrc_of(l3, covered, packet.elided_bytes(), version);
  telemetry::push(l3 + field, hop);
  const uint32_t change = before ^ icrc_of(l3, covered, packet.elided_bytes(), version);
  store_icrc(l3 + covered, load_icrc(l3 + covered) ^ change);
}

}  // namespace softspine::dataplane
