// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/frame_template.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/check.hpp"
#include "testbeds/hosts/roce_headers.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr bool carries_reth(uint8_t opcode) {
  return opcode == bth::kWriteFirst || opcode == bth::kWriteOnly;
}
constexpr bool ends_message(uint8_t opcode) {
  return opcode == bth::kWriteLast || opcode == bth::kWriteOnly || opcode == bth::kSendLast ||
         opcode == bth::kSendOnly || opcode == bth::kSendLastImmediate || opcode == bth::kSendOnlyImmediate;
}
constexpr bool carries_immediate(uint8_t opcode) {
  return opcode == bth::kSendLastImmediate || opcode == bth::kSendOnlyImmediate;
}
constexpr uint32_t extension_of(uint8_t opcode) {
  return carries_reth(opcode) ? reth::kBytes : carries_immediate(opcode) ? immdt::kBytes : 0;
}
// Telemetry is the first of a packet's payload, and zeros until a switch writes there.
uint32_t telemetry_of(const FlowConfig& flow) {
  const bool has = flow.transport == TransportKind::kReliable && uses_telemetry(flow.reliable.congestion_control);
  return has ? telemetry::kBytes : 0;
}
constexpr uint32_t padding_of(uint32_t payload_bytes) {
  return (4 - payload_bytes % 4) % 4;
}

RoceAddress address_of(const FlowConfig& flow) {
  return {.destination = flow.destination,
          .destination_qp = flow.destination_qp,
          .source_port = flow.source_port,
          .dscp = flow.dscp,
          .ecn = flow.ecn,
          .ttl = flow.ttl,
          .flow_label = flow.flow_label};
}

}  // namespace

FrameTemplate::FrameTemplate(const HostConfig& host, const FlowConfig& flow, uint8_t opcode, uint32_t payload_bytes)
    : payload_bytes_(static_cast<uint16_t>(payload_bytes)), version_(version_of(flow.destination)) {
  const uint32_t extension = extension_of(opcode);
  const uint32_t inner = telemetry_of(flow) + payload_bytes;
  const uint32_t zeros = inner + padding_of(inner);
  const HeaderPlaces at =
      write_roce_headers(bytes_.data(), host, address_of(flow), opcode, extension + zeros + kIcrcBytes);
  const uint8_t* l3 = at.l3;
  uint8_t* base = at.bth;
  base[bth::kFlags] = static_cast<uint8_t>(bth::kMigrationBit | padding_of(inner) << bth::kPadShift);
  base[bth::kCongestion] = telemetry_of(flow) != 0 ? telemetry::kBthBit : 0;
  base[bth::kAckRequest] = ends_message(opcode) ? bth::kAckRequestBit : 0;
  if (carries_immediate(opcode)) store32(at.extension, flow.immediate);
  if (carries_reth(opcode)) {
    uint8_t* rdma = at.extension;
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
  frame_bytes_ = static_cast<uint16_t>(stored_bytes_ + zeros + host.tag.bytes());
  psn_offset_ = static_cast<uint8_t>(ethernet::kBytes + psn_word);
  is_sound_ = version_ == IpVersion::k4 && !is_bad_ipv4_source(l3[ipv4::kSource]);
  if (!flow.rate.is_zero()) interval_ = flow.rate.time_of_frame(frame_bytes_);
}

uint32_t packets_per_message(const FlowConfig& flow) {
  return packets_of_message(flow.message_bytes, flow.mtu);
}

uint32_t largest_packet_bytes(const FlowConfig& flow) {
  const bool single = flow.message_bytes <= flow.mtu;
  const uint32_t payload = (single ? static_cast<uint32_t>(flow.message_bytes) : flow.mtu) + telemetry_of(flow);
  return roce_header_bytes(version_of(flow.destination)) +
         (flow.verb == Verb::kWrite ? reth::kBytes
          : flow.has_immediates     ? immdt::kBytes
                                    : 0) +
         payload + padding_of(payload) + kIcrcBytes;
}

void write_templates(const HostConfig& host, const FlowConfig& flow, FrameTemplate* out) {
  const bool writes = flow.verb == Verb::kWrite;
  const uint8_t only = writes ? bth::kWriteOnly : flow.has_immediates ? bth::kSendOnlyImmediate : bth::kSendOnly;
  const uint8_t last = writes ? bth::kWriteLast : flow.has_immediates ? bth::kSendLastImmediate : bth::kSendLast;
  const uint32_t packets = packets_per_message(flow);
  if (packets == 1) {
    const auto bytes = static_cast<uint32_t>(flow.message_bytes);
    *out = FrameTemplate{host, flow, only, bytes};
    return;
  }
  const auto rest = static_cast<uint32_t>(flow.message_bytes - uint64_t{packets - 1} * flow.mtu);
  out[0] = FrameTemplate{host, flow, writes ? bth::kWriteFirst : bth::kSendFirst, flow.mtu};
  out[1] = FrameTemplate{host, flow, writes ? bth::kWriteMiddle : bth::kSendMiddle, flow.mtu};
  out[2] = FrameTemplate{host, flow, last, rest};
}

std::vector<FrameTemplate> templates_of(const HostConfig& host, const FlowConfig& flow) {
  SOFTSPINE_CHECK(validate(host, flow).empty(), flow.id, flow.source_qp);
  std::vector<FrameTemplate> out(packets_per_message(flow) == 1 ? 1 : kPartsOfMessage);
  write_templates(host, flow, out.data());
  return out;
}

WorkQueue queue_of(const FlowConfig& flow) {
  WorkQueue queue{flow.mtu, flow.queue_depth};
  if (flow.queue_depth == 0) queue.fill(flow.message_bytes, flow.messages);
  return queue;
}

}  // namespace softspine::testbeds
