// SPDX-License-Identifier: Apache-2.0
// The questions a switch asks: ARP requests and neighbour solicitations.
#include <algorithm>

#include "dataplane/local/local_agent.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::dataplane {

Packet LocalAgent::make_arp_request(const ForwardingState& state, const Subnet& subnet,
                                    const AddressBytes& target) noexcept {
  Packet packet = pool_.make(kMinFrameBytes);
  if (!packet) return packet;
  uint8_t* data = packet.data();
  std::fill_n(data, kMinFrameBytes, uint8_t{0});
  store_mac(data + ethernet::kDestination, kBroadcastMac);
  store_mac(data + ethernet::kSource, state.router_mac);
  store16(data + ethernet::kType, ethernet::kTypeArp);
  uint8_t* body = data + ethernet::kBytes;
  store48(body, arp::kEthernetIpv4);
  store16(body + arp::kOperation, arp::kRequest);
  store_mac(body + arp::kSenderMac, state.router_mac);
  std::copy_n(subnet.gateway.data(), 4, body + arp::kSenderIp);
  std::copy_n(target.data(), 4, body + arp::kTargetIp);
  parse(packet);
  return packet;
}

Packet LocalAgent::make_solicitation(const ForwardingState& state, const Subnet& subnet,
                                     const AddressBytes& target) noexcept {
  constexpr uint32_t kBody = nd::kOptions + nd::kLinkOptionBytes;
  Packet packet = pool_.make(ethernet::kBytes + ipv6::kBytes + kBody);
  if (!packet) return packet;
  uint8_t* data = packet.data();
  std::fill_n(data, packet.stored_bytes(), uint8_t{0});
  // The solicited-node group ff02::1:ffXX:XXXX and its MAC 33:33:ff:XX:XX:XX.
  const MacAddress group_mac{0x33, 0x33, 0xff, target[13], target[14], target[15]};
  const AddressBytes group{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff, target[13], target[14], target[15]};
  store_mac(data + ethernet::kDestination, group_mac);
  store_mac(data + ethernet::kSource, state.router_mac);
  store16(data + ethernet::kType, ethernet::kTypeIpv6);
  uint8_t* l3 = data + ethernet::kBytes;
  l3[0] = 0x60;
  store16(l3 + ipv6::kPayloadLength, kBody);
  l3[ipv6::kNextHeader] = ip::kIcmp6;
  l3[ipv6::kHopLimit] = nd::kHopLimit;
  std::copy_n(subnet.gateway.data(), 16, l3 + ipv6::kSource);
  std::copy_n(group.data(), 16, l3 + ipv6::kDestination);
  uint8_t* body = l3 + ipv6::kBytes;
  body[icmp::kType] = icmp::k6NeighbourSolicitation;
  std::copy_n(target.data(), 16, body + nd::kTarget);
  body[nd::kOptions] = nd::kSourceLinkAddress;
  body[nd::kOptions + 1] = 1;
  store_mac(body + nd::kOptions + 2, state.router_mac);
  store16(body + icmp::kChecksum,
          ipv6_pseudo_header(l3 + ipv6::kSource, kBody, ip::kIcmp6).add(body, kBody).checksum());
  parse(packet);
  return packet;
}

}  // namespace softspine::dataplane
