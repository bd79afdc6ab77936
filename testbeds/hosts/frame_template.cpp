// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/frame_template.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr bool carries_reth(uint8_t opcode) {
  return opcode == bth::kWriteFirst || opcode == bth::kWriteOnly;
}
constexpr bool ends_message(uint8_t opcode) {
  return opcode == bth::kWriteLast || opcode == bth::kWriteOnly || opcode == bth::kSendLast || opcode == bth::kSendOnly;
}
constexpr uint32_t padding_of(uint32_t payload_bytes) {
  return (4 - payload_bytes % 4) % 4;
}

IpVersion version_of(const FlowConfig& flow) {
  return std::holds_alternative<Ipv4Address>(flow.destination) ? IpVersion::k4 : IpVersion::k6;
}
uint8_t traffic_class_of(const FlowConfig& flow) {
  return static_cast<uint8_t>(flow.dscp << 2 | flow.ecn);
}

void write_ipv4(uint8_t* l3, const HostConfig& host, const FlowConfig& flow, uint32_t l4_bytes) {
  l3[ipv4::kVersionIhl] = 0x45;
  l3[ipv4::kTos] = traffic_class_of(flow);
  store16(l3 + ipv4::kTotalLength, static_cast<uint16_t>(ipv4::kMinBytes + l4_bytes));
  store16(l3 + ipv4::kFragment, ipv4::kDontFragment);
  l3[ipv4::kTtl] = flow.ttl;
  l3[ipv4::kProtocol] = ip::kUdp;
  store32(l3 + ipv4::kSource, host.ipv4);
  store32(l3 + ipv4::kDestination, std::get<Ipv4Address>(flow.destination));
}

void write_ipv6(uint8_t* l3, const HostConfig& host, const FlowConfig& flow, uint32_t l4_bytes) {
  store32(l3, 6u << 28 | uint32_t{traffic_class_of(flow)} << ipv6::kTrafficClassShift | flow.flow_label);
  store16(l3 + ipv6::kPayloadLength, static_cast<uint16_t>(l4_bytes));
  l3[ipv6::kNextHeader] = ip::kUdp;
  l3[ipv6::kHopLimit] = flow.ttl;
  store_ipv6(l3 + ipv6::kSource, host.ipv6);
  store_ipv6(l3 + ipv6::kDestination, std::get<Ipv6Address>(flow.destination));
}

}  // namespace

FrameTemplate::FrameTemplate(const HostConfig& host, const FlowConfig& flow, uint8_t opcode, uint32_t payload_bytes)
    : payload_bytes_(static_cast<uint16_t>(payload_bytes)), version_(version_of(flow)) {
  const uint32_t extension = carries_reth(opcode) ? reth::kBytes : 0;
  const uint32_t zeros = payload_bytes + padding_of(payload_bytes);
  const uint32_t l4_bytes = udp::kBytes + bth::kBytes + extension + zeros + kIcrcBytes;
  const bool is_v4 = version_ == IpVersion::k4;
  uint8_t* l3 = bytes_.data() + ethernet::kBytes;
  uint8_t* l4 = l3 + (is_v4 ? ipv4::kMinBytes : ipv6::kBytes);
  uint8_t* base = l4 + udp::kBytes;

  store_mac(bytes_.data() + ethernet::kDestination, host.gateway);
  store_mac(bytes_.data() + ethernet::kSource, host.mac);
  store16(bytes_.data() + ethernet::kType, is_v4 ? ethernet::kTypeIpv4 : ethernet::kTypeIpv6);
  is_v4 ? write_ipv4(l3, host, flow, l4_bytes) : write_ipv6(l3, host, flow, l4_bytes);
  store16(l4 + udp::kSourcePort, flow.source_port);
  store16(l4 + udp::kDestinationPort, udp::kRoceV2Port);
  store16(l4 + udp::kLength, static_cast<uint16_t>(l4_bytes));
  base[bth::kOpcode] = opcode;
  base[bth::kFlags] = static_cast<uint8_t>(bth::kMigrationBit | padding_of(payload_bytes) << bth::kPadShift);
  store16(base + bth::kPartitionKey, bth::kDefaultPartitionKey);
  store24(base + bth::kDestinationQp, flow.destination_qp);
  base[bth::kAckRequest] = ends_message(opcode) ? bth::kAckRequestBit : 0;
  if (extension != 0) {
    uint8_t* rdma = base + bth::kBytes;
    store64(rdma + reth::kVirtualAddress, flow.remote_address);
    store32(rdma + reth::kRemoteKey, flow.remote_key);
    store32(rdma + reth::kDmaLength, static_cast<uint32_t>(flow.message_bytes));
  }

  const auto covered = static_cast<uint32_t>(base - l3) + bth::kBytes + extension;
  const auto psn_word = static_cast<uint32_t>(base - l3) + bth::kAckRequest;
  icrc_ = PatchedIcrc{l3, covered, zeros, version_, ipv4::kId, psn_word};
  ip_sum_ = ChecksumSum{}.add(l3, ipv4::kMinBytes).folded();
  ack_request_ = base[bth::kAckRequest];
  stored_bytes_ = static_cast<uint8_t>(ethernet::kBytes + covered + kIcrcBytes);
  frame_bytes_ = static_cast<uint16_t>(stored_bytes_ + zeros);
  psn_offset_ = static_cast<uint8_t>(ethernet::kBytes + psn_word);
  if (!flow.rate.is_zero()) interval_ = flow.rate.time_of_frame(frame_bytes_);
}

uint32_t packets_per_message(const FlowConfig& flow) {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (flow.message_bytes + flow.path_mtu - 1) / flow.path_mtu));
}

uint32_t largest_packet_bytes(const FlowConfig& flow) {
  const bool single = flow.message_bytes <= flow.path_mtu;
  const uint32_t payload = single ? static_cast<uint32_t>(flow.message_bytes) : flow.path_mtu;
  return roce_header_bytes(version_of(flow)) + (flow.verb == Verb::kWrite ? reth::kBytes : 0) + payload +
         padding_of(payload) + kIcrcBytes;
}

std::vector<FrameTemplate> templates_of(const HostConfig& host, const FlowConfig& flow) {
  SOFTSPINE_CHECK(wrong_with(host, flow).empty(), flow.id, flow.source_qp);
  const bool writes = flow.verb == Verb::kWrite;
  const uint32_t packets = packets_per_message(flow);
  if (packets == 1) {
    const auto bytes = static_cast<uint32_t>(flow.message_bytes);
    return {FrameTemplate{host, flow, writes ? bth::kWriteOnly : bth::kSendOnly, bytes}};
  }
  const auto last = static_cast<uint32_t>(flow.message_bytes - uint64_t{packets - 1} * flow.path_mtu);
  return {FrameTemplate{host, flow, writes ? bth::kWriteFirst : bth::kSendFirst, flow.path_mtu},
          FrameTemplate{host, flow, writes ? bth::kWriteMiddle : bth::kSendMiddle, flow.path_mtu},
          FrameTemplate{host, flow, writes ? bth::kWriteLast : bth::kSendLast, last}};
}

}  // namespace softspine::testbeds
