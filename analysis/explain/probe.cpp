// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/probe.hpp"

#include <algorithm>

#include "control/compile/compile.hpp"
#include "dataplane/packet/checksum.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr uint32_t kPayload = 16;  // a RETH, or zeros

void write_ipv4(uint8_t* l3, const control::FabricNode& from, const control::FabricNode& to, uint8_t protocol,
                uint32_t l4_bytes) {
  l3[dp::ipv4::kVersionIhl] = 0x45;
  l3[dp::ipv4::kTos] = 26 << 2 | dp::ip::kEct0;
  dp::store16(l3 + dp::ipv4::kTotalLength, static_cast<uint16_t>(dp::ipv4::kMinBytes + l4_bytes));
  dp::store16(l3 + dp::ipv4::kFragment, dp::ipv4::kDontFragment);
  l3[dp::ipv4::kTtl] = 64;
  l3[dp::ipv4::kProtocol] = protocol;
  dp::store32(l3 + dp::ipv4::kSource, from.ipv4.value);
  dp::store32(l3 + dp::ipv4::kDestination, to.ipv4.value);
  dp::store16(l3 + dp::ipv4::kChecksum, dp::ipv4_checksum(l3, dp::ipv4::kMinBytes));
}

void write_ipv6(uint8_t* l3, const control::FabricNode& from, const control::FabricNode& to, const Probe& probe,
                uint32_t l4_bytes) {
  dp::store32(l3, 6u << 28 | 0x6au << dp::ipv6::kTrafficClassShift | (probe.flow_label & dp::ipv6::kFlowLabelMask));
  dp::store16(l3 + dp::ipv6::kPayloadLength, static_cast<uint16_t>(l4_bytes));
  l3[dp::ipv6::kNextHeader] = probe.protocol;
  l3[dp::ipv6::kHopLimit] = 64;
  std::ranges::copy(from.ipv6.bytes, l3 + dp::ipv6::kSource);
  std::ranges::copy(to.ipv6.bytes, l3 + dp::ipv6::kDestination);
}

}  // namespace

std::vector<uint8_t> frame_of(const control::Fabric& fabric, const Probe& probe, const dp::MacAddress& gateway) {
  const control::FabricNode& from = fabric.nodes[probe.from];
  const control::FabricNode& to = fabric.nodes[probe.to];
  const uint32_t l3_bytes = probe.is_ipv6 ? dp::ipv6::kBytes : dp::ipv4::kMinBytes;
  const uint32_t l4_bytes = dp::udp::kBytes + dp::bth::kBytes + kPayload + dp::kIcrcBytes;  // a TCP header fits in, too
  std::vector<uint8_t> frame(dp::ethernet::kBytes + l3_bytes + l4_bytes);
  uint8_t* l3 = frame.data() + dp::ethernet::kBytes;
  uint8_t* l4 = l3 + l3_bytes;
  dp::store_mac(frame.data() + dp::ethernet::kDestination, gateway);
  dp::store_mac(frame.data() + dp::ethernet::kSource, packet_mac(from.ports[probe.port].mac));
  dp::store16(frame.data() + dp::ethernet::kType, probe.is_ipv6 ? dp::ethernet::kTypeIpv6 : dp::ethernet::kTypeIpv4);
  if (probe.is_ipv6) {
    write_ipv6(l3, from, to, probe, l4_bytes);
  } else {
    write_ipv4(l3, from, to, probe.protocol, l4_bytes);
  }
  dp::store16(l4 + dp::udp::kSourcePort, probe.source_port);
  dp::store16(l4 + dp::udp::kDestinationPort, probe.destination_port);
  if (probe.protocol == dp::ip::kUdp) dp::store16(l4 + dp::udp::kLength, static_cast<uint16_t>(l4_bytes));
  if (probe.protocol == dp::ip::kUdp && probe.destination_port == dp::udp::kRoceV2Port) {
    uint8_t* bth = l4 + dp::udp::kBytes;
    bth[dp::bth::kOpcode] = probe.opcode;
    dp::store16(bth + dp::bth::kPartitionKey, dp::bth::kDefaultPartitionKey);
    dp::store24(bth + dp::bth::kDestinationQp, probe.qp);
  }
  return frame;
}

}  // namespace softspine::analysis
