// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/inner_headers.hpp"

#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint16_t kVxlanPort = 4789;
constexpr uint32_t kVxlanBytes = 8;
constexpr uint8_t kVxlanHasNetwork = 0x08;  // the flag I
constexpr uint16_t kGreChecksum = 0x8000;
constexpr uint16_t kGreKey = 0x2000;
constexpr uint16_t kGreSequence = 0x1000;
constexpr uint16_t kGreUnknown = 0x4007;  // routing, another version
constexpr uint16_t kTypeEthernet = 0x6558;

// The rest of a frame from one of its bytes on.
struct Rest {
  const uint8_t* at;
  uint32_t bytes;
};

Rest behind(Rest rest, uint32_t bytes) {
  return bytes <= rest.bytes ? Rest{rest.at + bytes, rest.bytes - bytes} : Rest{rest.at, 0};
}

uint8_t layer4_flags(Rest rest, uint8_t protocol) {
  if (protocol == ip::kUdp && rest.bytes >= udp::kBytes) return kIsUdp;
  return protocol == ip::kTcp && rest.bytes >= 4 ? uint8_t{kIsTcp} : uint8_t{0};
}

// Fills in layers 3 and 4, if there is an IP packet of that type.
void read_ip(Rest rest, uint16_t type, HeaderView& view) {
  const uint8_t* l3 = rest.at;
  uint32_t header_bytes = 0;
  if (type == ethernet::kTypeIpv4 && rest.bytes >= ipv4::kMinBytes && l3[0] >> 4 == 4) {
    header_bytes = (l3[ipv4::kVersionIhl] & 0x0fU) * 4;
    if (header_bytes < ipv4::kMinBytes || header_bytes > rest.bytes) return;
    const bool is_fragment = (load16(l3 + ipv4::kFragment) & (ipv4::kMoreFragments | ipv4::kFragmentOffsetMask)) != 0;
    view.ip_protocol = l3[ipv4::kProtocol];
    view.flags = is_fragment ? uint8_t{kIsFragment} : layer4_flags(behind(rest, header_bytes), view.ip_protocol);
    view.flags |= kIsIpv4;
  } else if (type == ethernet::kTypeIpv6 && rest.bytes >= ipv6::kBytes && l3[0] >> 4 == 6) {
    header_bytes = ipv6::kBytes;
    view.ip_protocol = l3[ipv6::kNextHeader];
    view.flags = kIsIpv6 | layer4_flags(behind(rest, header_bytes), view.ip_protocol);
  } else {
    return;
  }
  view.l3_offset = static_cast<uint16_t>(l3 - view.frame);
  view.l4_offset = static_cast<uint16_t>(view.l3_offset + header_bytes);
}

InnerHeaders inside_ethernet(Rest rest) {
  InnerHeaders out;
  if (rest.bytes < ethernet::kBytes) return out;
  out.has_ethernet = true;
  out.view = {.frame = rest.at, .stored_bytes = rest.bytes, .frame_bytes = rest.bytes};
  uint32_t header_bytes = ethernet::kBytes;
  out.view.ether_type = load16(rest.at + ethernet::kType);
  if (out.view.ether_type == ethernet::kTypeVlan && rest.bytes >= header_bytes + ethernet::kTagBytes) {
    header_bytes += ethernet::kTagBytes;
    out.view.ether_type = load16(rest.at + header_bytes - 2);
  }
  read_ip(behind(rest, header_bytes), out.view.ether_type, out.view);
  return out;
}

InnerHeaders inside_ip(Rest rest, uint16_t type) {
  InnerHeaders out;
  out.view = {.frame = rest.at, .stored_bytes = rest.bytes, .frame_bytes = rest.bytes};
  read_ip(rest, type, out.view);
  return out;
}

InnerHeaders inside_gre(Rest rest) {
  if (rest.bytes < 4) return {};
  const uint16_t flags = load16(rest.at);
  const uint16_t type = load16(rest.at + 2);
  if ((flags & kGreUnknown) != 0) return {};
  uint32_t header_bytes = 4;
  for (const uint16_t option : {kGreChecksum, kGreKey, kGreSequence}) header_bytes += (flags & option) != 0 ? 4 : 0;
  if (header_bytes > rest.bytes) return {};
  rest = behind(rest, header_bytes);
  return type == kTypeEthernet ? inside_ethernet(rest) : inside_ip(rest, type);
}

}  // namespace

InnerHeaders inner_of(const HeaderView& outer) noexcept {
  if (outer.l4_offset == 0 || outer.l4_offset > outer.stored_bytes || (outer.flags & kIsFragment) != 0) return {};
  const Rest rest{outer.frame + outer.l4_offset, outer.stored_bytes - outer.l4_offset};
  if ((outer.flags & kIsUdp) != 0) {
    const bool is_vxlan = load16(rest.at + udp::kDestinationPort) == kVxlanPort &&
                          rest.bytes >= udp::kBytes + kVxlanBytes && (rest.at[udp::kBytes] & kVxlanHasNetwork) != 0;
    return is_vxlan ? inside_ethernet(behind(rest, udp::kBytes + kVxlanBytes)) : InnerHeaders{};
  }
  switch (outer.ip_protocol) {
    case ip::kGre: return inside_gre(rest);
    case ip::kIpv4InIp: return inside_ip(rest, ethernet::kTypeIpv4);
    case ip::kIpv6InIp: return inside_ip(rest, ethernet::kTypeIpv6);
    default: return {};
  }
}

}  // namespace softspine::dataplane
