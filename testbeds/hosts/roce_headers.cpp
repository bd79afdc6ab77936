// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/roce_headers.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

uint8_t traffic_class_of(const RoceAddress& to) {
  return static_cast<uint8_t>(to.dscp << 2 | to.ecn);
}

void write_ipv4(uint8_t* l3, const HostConfig& host, const RoceAddress& to, uint32_t l4_bytes) {
  l3[ipv4::kVersionIhl] = 0x45;
  l3[ipv4::kTos] = traffic_class_of(to);
  store16(l3 + ipv4::kTotalLength, static_cast<uint16_t>(ipv4::kMinBytes + l4_bytes));
  store16(l3 + ipv4::kFragment, ipv4::kDontFragment);
  l3[ipv4::kTtl] = to.ttl;
  l3[ipv4::kProtocol] = ip::kUdp;
  store32(l3 + ipv4::kSource, host.ipv4);
  store32(l3 + ipv4::kDestination, std::get<Ipv4Address>(to.destination));
}

void write_ipv6(uint8_t* l3, const HostConfig& host, const RoceAddress& to, uint32_t l4_bytes) {
  store32(l3, 6u << 28 | uint32_t{traffic_class_of(to)} << ipv6::kTrafficClassShift | to.flow_label);
  store16(l3 + ipv6::kPayloadLength, static_cast<uint16_t>(l4_bytes));
  l3[ipv6::kNextHeader] = ip::kUdp;
  l3[ipv6::kHopLimit] = to.ttl;
  store_ipv6(l3 + ipv6::kSource, host.ipv6);
  store_ipv6(l3 + ipv6::kDestination, std::get<Ipv6Address>(to.destination));
}

}  // namespace

HeaderPlaces write_roce_headers(uint8_t* frame, const HostConfig& host, const RoceAddress& to, uint8_t opcode,
                                uint32_t bytes_behind_bth) {
  const bool is_v4 = version_of(to.destination) == IpVersion::k4;
  const uint32_t l4_bytes = udp::kBytes + bth::kBytes + bytes_behind_bth;
  uint8_t* l3 = frame + ethernet::kBytes;
  uint8_t* l4 = l3 + (is_v4 ? ipv4::kMinBytes : ipv6::kBytes);
  uint8_t* base = l4 + udp::kBytes;
  store_mac(frame + ethernet::kDestination, host.gateway);
  store_mac(frame + ethernet::kSource, host.mac);
  store16(frame + ethernet::kType, is_v4 ? ethernet::kTypeIpv4 : ethernet::kTypeIpv6);
  is_v4 ? write_ipv4(l3, host, to, l4_bytes) : write_ipv6(l3, host, to, l4_bytes);
  store16(l4 + udp::kSourcePort, to.source_port);
  store16(l4 + udp::kDestinationPort, udp::kRoceV2Port);
  store16(l4 + udp::kLength, static_cast<uint16_t>(l4_bytes));
  base[bth::kOpcode] = opcode;
  store16(base + bth::kPartitionKey, bth::kDefaultPartitionKey);
  store24(base + bth::kDestinationQp, to.destination_qp);
  return {l3, base, base + bth::kBytes};
}

}  // namespace softspine::testbeds
