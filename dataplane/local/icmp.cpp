// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dataplane/local/local_agent.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kQuotedBytes = 96;  // of the original, its IP header first: enough for IP, UDP and BTH
constexpr uint8_t kFirstTtl = 64 + 1;  // 64 on the wire: what the switch makes is routed too, which takes one

// RFC 1122 3.2.2, RFC 4443 2.4: no error about an error, a later fragment, or what was sent to many.
bool deserves_error(const Packet& original) {
  const PacketMeta& meta = original.meta();
  const uint8_t* data = original.data();
  const uint8_t* l3 = data + meta.l3_offset;
  if ((data[0] & ethernet::kMulticastBit) != 0) return false;
  const bool has_icmp_type = original.stored_bytes() > meta.l4_offset;
  if ((meta.flags & kIsIpv4) != 0) {
    if (load32(l3 + ipv4::kDestination) >= 0xe0000000) return false;
    if ((load16(l3 + ipv4::kFragment) & ipv4::kFragmentOffsetMask) != 0) return false;
    if (meta.ip_protocol != ip::kIcmp) return true;
    return has_icmp_type && (data[meta.l4_offset] == icmp::kEchoRequest || data[meta.l4_offset] == icmp::kEchoReply);
  }
  if ((meta.flags & kIsIpv6) == 0 || l3[ipv6::kDestination] == 0xff) return false;
  if (load_ipv6(l3 + ipv6::kSource) == Ipv6Address{}) return false;  // from nobody
  if (meta.ip_protocol != ip::kIcmp6) return true;
  return has_icmp_type && data[meta.l4_offset] >= icmp::k6EchoRequest;
}

// The datagram's own bytes: what follows it in the frame (padding) is not quoted.
uint32_t datagram_bytes(const Packet& packet) {
  const uint8_t* l3 = packet.data() + packet.meta().l3_offset;
  return (packet.meta().flags & kIsIpv6) != 0 ? ipv6::kBytes + load16(l3 + ipv6::kPayloadLength)
                                              : load16(l3 + ipv4::kTotalLength);
}

// `count` bytes of the frame from `offset` on, with the zeros that are left out of what is stored.
void copy_frame_bytes(const Packet& packet, uint32_t offset, uint32_t count, uint8_t* to) {
  const uint32_t stored = packet.stored_bytes();
  const uint32_t elided = packet.elided_bytes();
  const uint32_t front_end = elided == 0 ? stored : stored - std::min(stored, kIcrcBytes);
  for (uint32_t at = offset; at < offset + count; ++at) {
    const bool is_zero = at >= front_end && at < front_end + elided;
    *to++ = is_zero ? uint8_t{0} : packet.data()[at < front_end ? at : at - elided];
  }
}

void fill_ipv4(uint8_t* l3, uint32_t total, const AddressBytes& source, const uint8_t* destination) {
  std::fill_n(l3, ipv4::kMinBytes, uint8_t{0});
  l3[ipv4::kVersionIhl] = 0x45;
  l3[ipv4::kTtl] = kFirstTtl;
  l3[ipv4::kProtocol] = ip::kIcmp;
  store16(l3 + ipv4::kTotalLength, static_cast<uint16_t>(total));
  std::copy_n(source.data(), 4, l3 + ipv4::kSource);
  std::copy_n(destination, 4, l3 + ipv4::kDestination);
  store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
}

void fill_ipv6(uint8_t* l3, uint32_t payload, const AddressBytes& source, const uint8_t* destination) {
  std::fill_n(l3, ipv6::kBytes, uint8_t{0});
  l3[0] = 0x60;
  l3[ipv6::kNextHeader] = ip::kIcmp6;
  l3[ipv6::kHopLimit] = kFirstTtl;
  store16(l3 + ipv6::kPayloadLength, static_cast<uint16_t>(payload));
  std::copy_n(source.data(), 16, l3 + ipv6::kSource);
  std::copy_n(destination, 16, l3 + ipv6::kDestination);
}

}  // namespace

Packet make_icmp_error(PacketPool& pool, const Packet& original, const ErrorSource& source, uint8_t type, uint8_t code,
                       uint32_t mtu) noexcept {
  if (!deserves_error(original) || source.address == AddressBytes{}) return Packet{};
  const PacketMeta& meta = original.meta();
  const bool is_ipv6 = (meta.flags & kIsIpv6) != 0;
  const uint32_t header = is_ipv6 ? ipv6::kBytes : ipv4::kMinBytes;
  const uint32_t quoted = std::min(kQuotedBytes, datagram_bytes(original));
  Packet packet = pool.make(ethernet::kBytes + header + icmp::kBytes + quoted);
  if (!packet) return packet;
  const uint8_t* from = original.data() + meta.l3_offset;
  uint8_t* data = packet.data();
  uint8_t* l3 = data + ethernet::kBytes;
  uint8_t* body = l3 + header;
  std::fill_n(body, icmp::kBytes, uint8_t{0});
  body[icmp::kType] = type;
  body[icmp::kCode] = code;
  store32(body + 4, mtu);  // zero but for "too big"; IPv4 has it in the low 16 bits of the same word
  copy_frame_bytes(original, meta.l3_offset, quoted, body + icmp::kBytes);
  const uint32_t length = icmp::kBytes + quoted;
  store_mac(data + ethernet::kDestination, source.mac);  // a hash may have them in its key
  store_mac(data + ethernet::kSource, source.mac);
  store16(data + ethernet::kType, is_ipv6 ? ethernet::kTypeIpv6 : ethernet::kTypeIpv4);
  if (is_ipv6) {
    fill_ipv6(l3, length, source.address, from + ipv6::kSource);
    const uint16_t sum =
        ipv6_pseudo_header(l3 + ipv6::kSource, static_cast<uint16_t>(length), ip::kIcmp6).add(body, length).checksum();
    store16(body + icmp::kChecksum, sum);
  } else {
    fill_ipv4(l3, ipv4::kMinBytes + length, source.address, from + ipv4::kSource);
    store16(body + icmp::kChecksum, ChecksumSum{}.add(body, length).checksum());
  }
  parse(packet);
  packet.meta().in_port = kLocalPort;
  packet.meta().vlan = 0;
  return packet;
}

void turn_into_echo_reply(Packet& packet) noexcept {
  PacketMeta& meta = packet.meta();
  uint8_t* l3 = packet.data() + meta.l3_offset;
  uint8_t* body = packet.data() + meta.l4_offset;
  const uint16_t before = load16(body);
  if ((meta.flags & kIsIpv4) != 0) {
    std::swap_ranges(l3 + ipv4::kSource, l3 + ipv4::kSource + 4, l3 + ipv4::kDestination);
    body[icmp::kType] = icmp::kEchoReply;
    store16(l3 + ipv4::kTtl, static_cast<uint16_t>(kFirstTtl << 8 | ip::kIcmp));
    store16(l3 + ipv4::kChecksum, 0);
    store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, (l3[0] & 0x0fU) * 4));
  } else {
    std::swap_ranges(l3 + ipv6::kSource, l3 + ipv6::kSource + 16, l3 + ipv6::kDestination);
    body[icmp::kType] = icmp::k6EchoReply;
    l3[ipv6::kHopLimit] = kFirstTtl;
  }
  store16(body + icmp::kChecksum, updated_checksum(load16(body + icmp::kChecksum), before, load16(body)));
}

}  // namespace softspine::dataplane
