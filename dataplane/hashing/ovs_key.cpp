// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/ovs_key.hpp"

#include <cstring>

#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint8_t kSctp = 132;

uint8_t place_in_ovs_key(HashField field, bool is_ipv6) {
  const auto address = static_cast<uint8_t>(is_ipv6 ? 16 : 4);
  switch (field) {
    case HashField::kDstIp: return address;
    case HashField::kIpProtocol: return static_cast<uint8_t>(2 * address);
    case HashField::kL4SrcPort: return static_cast<uint8_t>(2 * address + 4);
    case HashField::kL4DstPort: return static_cast<uint8_t>(2 * address + 6);
    default: return 0;
  }
}

// The bytes that layer 4 must have before OVS reads it; 0: it has no ports.
uint32_t least_bytes(uint8_t protocol) {
  switch (protocol) {
    case ip::kTcp: return 20;
    case ip::kUdp:
    case ip::kIcmp:
    case ip::kIcmp6: return 8;
    case kSctp: return 12;
    default: return 0;
  }
}

bool is_later_fragment(const HeaderView& view) {
  return (view.flags & kIsIpv4) != 0 &&
         (load16(view.frame + view.l3_offset + ipv4::kFragment) & ipv4::kFragmentOffsetMask) != 0;
}

void add_up(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) to[i] ^= from[i];
}

// Where the packet ends, whatever the frame was filled up with.
uint32_t end_of(const HeaderView& view) {
  const uint8_t* l3 = view.frame + view.l3_offset;
  const bool is_ipv6 = (view.flags & kIsIpv6) != 0;
  return view.l3_offset +
         (is_ipv6 ? ipv6::kBytes + load16(l3 + ipv6::kPayloadLength) : uint32_t{load16(l3 + ipv4::kTotalLength)});
}

}  // namespace

std::vector<KeyPart> OvsKey::parts_of(const HashConfig& config, bool is_ipv6) {
  using enum HashField;
  const bool is_symmetric = is_symmetric_ovs(config.algorithm);
  std::vector<KeyPart> parts;
  for (const HashField field : {kSrcIp, kDstIp, kIpProtocol, kL4SrcPort, kL4DstPort}) {
    if (is_symmetric && (field == kDstIp || field == kL4DstPort)) continue;
    KeyPart part = source_of(field, is_ipv6);
    part.to = place_in_ovs_key(field, is_ipv6);
    parts.push_back(part);
  }
  return parts;
}

bool OvsKey::has_ports(const HeaderView& view, uint8_t is_symmetric) noexcept {
  if (is_symmetric == 0) return least_bytes(view.ip_protocol) != 0;
  return (view.flags & kIsFragment) == 0 && (view.ip_protocol == ip::kTcp || view.ip_protocol == kSctp);
}

void OvsKey::finish(const std::vector<KeyPart>&, const HeaderView& view, uint8_t is_symmetric, uint8_t* key) noexcept {
  const bool is_ipv6 = (view.flags & kIsIpv6) != 0;
  const uint32_t counts = place_in_ovs_key(HashField::kIpProtocol, is_ipv6) + 3U;
  if (is_symmetric != 0)
    add_up(key, view.frame + view.l3_offset + (is_ipv6 ? ipv6::kDestination : ipv4::kDestination), is_ipv6 ? 16 : 4);
  uint8_t* ports = key + counts + 1;
  std::memset(ports, 0, 4);
  if (!has_ports(view, is_symmetric)) return;
  key[counts] = 1;
  const uint32_t needed = view.l4_offset + least_bytes(view.ip_protocol);
  if (view.l4_offset == 0 || is_later_fragment(view) || needed > end_of(view)) return;
  if (view.l4_offset + 4U > view.stored_bytes) return;
  const uint8_t* from = view.frame + view.l4_offset;
  if (view.ip_protocol != ip::kIcmp && view.ip_protocol != ip::kIcmp6) {
    std::memcpy(ports, from, 4);
  } else {
    ports[1] = from[0];
    ports[3] = from[1];
  }
  if (is_symmetric == 0) return;
  add_up(ports, ports + 2, 2);
  std::memset(ports + 2, 0, 2);
}

}  // namespace softspine::dataplane
