// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/hashed_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "analysis/explain/probe.hpp"
#include "control/model/address.hpp"
#include "dataplane/forwarding/stages.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/scratch_packet.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

uint64_t digest(const Flow::Address& address) {
  uint64_t halves[2];
  std::memcpy(halves, address.data(), sizeof(halves));
  return halves[0] * 0x9E3779B97F4A7C15 ^ halves[1];
}

// Two hosts with the flow's addresses: what frame_of() of a probe takes.
control::Fabric two_hosts(const Flow& flow) {
  control::Fabric out;
  out.nodes.resize(2);
  for (control::FabricNode& node : out.nodes) node.ports.resize(1);
  out.nodes[0].ipv4.value = dp::load32(flow.source.data());
  out.nodes[1].ipv4.value = dp::load32(flow.destination.data());
  out.nodes[0].ipv6.bytes = flow.source;
  out.nodes[1].ipv6.bytes = flow.destination;
  return out;
}

std::string address_text(const Flow& flow, const Flow::Address& address) {
  if (!flow.is_ipv6) return to_string(control::Ipv4Address{dp::load32(address.data())});
  return flow.has_ports() ? "[" + to_string(control::Ipv6Address{address}) + "]"
                          : to_string(control::Ipv6Address{address});
}

}  // namespace

dp::HashField field_of(FlowPart part) {
  using enum dp::HashField;
  constexpr std::array kFieldOfPart{kSrcIp,         kDstIp,         kL4SrcPort,     kL4DstPort, kIpProtocol,
                                    kRdmaBthDestQp, kRdmaBthOpcode, kIpv6FlowLabel, kInPort,    kVlanId};
  static_assert(kFieldOfPart.size() == kFlowParts);
  return kFieldOfPart[static_cast<size_t>(part)];
}

uint64_t value_of(const Flow& flow, FlowPart part) {
  switch (part) {
    case FlowPart::kSource: return digest(flow.source);
    case FlowPart::kDestination: return digest(flow.destination);
    case FlowPart::kSourcePort: return flow.source_port;
    case FlowPart::kDestinationPort: return flow.destination_port;
    case FlowPart::kProtocol: return flow.protocol;
    case FlowPart::kQp: return flow.qp;
    case FlowPart::kOpcode: return flow.opcode;
    case FlowPart::kFlowLabel: return flow.flow_label;
    case FlowPart::kInPort: return flow.in_port;
    case FlowPart::kVlan: return flow.vlan;
  }
  return 0;
}

bool set_addresses(Flow& flow, std::string_view source, std::string_view destination) {
  const auto source4 = control::parse_ipv4(source);
  const auto destination4 = control::parse_ipv4(destination);
  if (source4 && destination4) {
    dp::store32(flow.source.data(), source4->value);
    dp::store32(flow.destination.data(), destination4->value);
    return true;
  }
  const auto source6 = control::parse_ipv6(source);
  const auto destination6 = control::parse_ipv6(destination);
  if (!source6 || !destination6) return false;
  flow.is_ipv6 = true;
  flow.source = source6->bytes;
  flow.destination = destination6->bytes;
  return true;
}

Flow without(Flow flow, FlowPart part) {
  switch (part) {
    case FlowPart::kSource: flow.source = {}; break;
    case FlowPart::kDestination: flow.destination = {}; break;
    case FlowPart::kSourcePort: flow.source_port = 0; break;
    case FlowPart::kDestinationPort: flow.destination_port = 0; break;
    case FlowPart::kProtocol: flow.protocol = 0; break;
    case FlowPart::kQp: flow.qp = 0; break;
    case FlowPart::kOpcode: flow.opcode = 0; break;
    case FlowPart::kFlowLabel: flow.flow_label = 0; break;
    case FlowPart::kInPort: flow.in_port = 0; break;
    case FlowPart::kVlan: flow.vlan = 0; break;
  }
  return flow;
}

std::vector<uint8_t> frame_of(const Flow& flow) {
  Probe probe{.from = 0, .to = 1};
  probe.protocol = flow.protocol;
  probe.source_port = flow.source_port;
  probe.destination_port = flow.destination_port;
  probe.qp = flow.qp;
  probe.opcode = flow.opcode;
  probe.is_ipv6 = flow.is_ipv6;
  probe.flow_label = flow.flow_label;
  return frame_of(two_hosts(flow), probe, {});
}

Flow flow_of(const dp::Packet& packet) {
  const dp::PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const uint8_t* l4 = packet.data() + meta.l4_offset;
  Flow out;
  out.is_ipv6 = (meta.flags & dp::kIsIpv6) != 0;
  const size_t length = out.is_ipv6 ? 16 : 4;
  std::copy_n(l3 + (out.is_ipv6 ? dp::ipv6::kSource : dp::ipv4::kSource), length, out.source.begin());
  std::copy_n(l3 + (out.is_ipv6 ? dp::ipv6::kDestination : dp::ipv4::kDestination), length, out.destination.begin());
  out.protocol = meta.ip_protocol;
  if (out.is_ipv6) out.flow_label = dp::load32(l3) & dp::ipv6::kFlowLabelMask;
  if ((meta.flags & (dp::kIsUdp | dp::kIsTcp)) != 0) {
    out.source_port = dp::load16(l4 + dp::udp::kSourcePort);
    out.destination_port = dp::load16(l4 + dp::udp::kDestinationPort);
  }
  if ((meta.flags & dp::kIsRoce) != 0) {
    out.qp = dp::load24(dp::bth_of(packet) + dp::bth::kDestinationQp);
    out.opcode = dp::bth_of(packet)[dp::bth::kOpcode];
  }
  return out;
}

std::string to_string(const Flow& flow) {
  const std::string protocol = flow.protocol == dp::ip::kUdp   ? "udp"
                               : flow.protocol == dp::ip::kTcp ? "tcp"
                                                               : fmt::format("protocol {}", flow.protocol);
  const auto end = [&](const Flow::Address& address, uint16_t port) {
    return address_text(flow, address) + (flow.has_ports() ? fmt::format(":{}", port) : "");
  };
  std::string out = fmt::format("{} {} → {}", protocol, end(flow.source, flow.source_port),
                                end(flow.destination, flow.destination_port));
  if (flow.is_roce()) out += fmt::format(", QP {}", flow.qp);
  return out;
}

FlowFrame::FlowFrame(const Flow& flow) : bytes_(frame_of(flow)) {
  static thread_local dp::ScratchPacket scratch;
  dp::Packet& packet = scratch.load(bytes_, static_cast<uint32_t>(bytes_.size()));
  dp::parse(packet);
  view_ = dp::header_view(packet);
  view_.in_port = flow.in_port;
  view_.vlan = flow.vlan;
}

}  // namespace softspine::analysis
