// SPDX-License-Identifier: Apache-2.0
// Neighbour discovery from the asked one's side.
#include <algorithm>

#include "dataplane/local/local_agent.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

uint16_t message_checksum(const uint8_t* l3, const uint8_t* body, uint32_t length) {
  return ipv6_pseudo_header(l3 + ipv6::kSource, static_cast<uint16_t>(length), ip::kIcmp6).add(body, length).checksum();
}

}  // namespace

bool is_valid_discovery(const Packet& packet) noexcept {
  const PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const uint8_t* body = packet.data() + meta.l4_offset;
  const uint32_t length = load16(l3 + ipv6::kPayloadLength);
  if (packet.elided_bytes() != 0 || length < nd::kOptions || meta.l4_offset + length > packet.stored_bytes()) {
    return false;
  }
  return l3[ipv6::kHopLimit] == nd::kHopLimit && body[icmp::kCode] == 0 && body[nd::kTarget] != 0xff &&
         message_checksum(l3, body, length) == 0;
}

// The answer has one option. The rest of the question becomes padding behind the datagram.
void turn_into_advertisement(Packet& packet, const MacAddress& mac) noexcept {
  constexpr uint32_t kLength = nd::kOptions + nd::kLinkOptionBytes;
  const PacketMeta& meta = packet.meta();
  if (packet.stored_bytes() < meta.l4_offset + kLength) {
    packet.insert_bytes(packet.stored_bytes(), nd::kLinkOptionBytes);
  }
  uint8_t* l3 = packet.data() + meta.l3_offset;
  uint8_t* body = packet.data() + meta.l4_offset;
  std::copy_n(l3 + ipv6::kSource, 16, l3 + ipv6::kDestination);
  std::copy_n(body + nd::kTarget, 16, l3 + ipv6::kSource);
  store16(l3 + ipv6::kPayloadLength, kLength);
  body[icmp::kType] = icmp::k6NeighbourAdvertisement;
  store32(body + nd::kFlags, uint32_t{nd::kRouter | nd::kSolicited | nd::kOverride} << 24);
  body[nd::kOptions] = nd::kTargetLinkAddress;
  body[nd::kOptions + 1] = 1;
  store_mac(body + nd::kOptions + 2, mac);
  store16(body + icmp::kChecksum, 0);
  store16(body + icmp::kChecksum, message_checksum(l3, body, kLength));
}

}  // namespace softspine::dataplane
