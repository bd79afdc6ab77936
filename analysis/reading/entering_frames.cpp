// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/entering_frames.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

using control::LinkEnd;

namespace {

// The longest frame that every link takes.
uint32_t longest_frame(const control::Fabric& fabric) {
  uint32_t mtu = dp::kMaxFrameBytes;
  for (const control::FabricLink& link : fabric.links) mtu = std::min(mtu, link.mtu);
  return std::min(mtu + dp::ethernet::kBytes, dp::kMaxFrameBytes);
}

void set_ipv4_length(uint8_t* header, uint32_t header_bytes, uint32_t total) {
  dp::store16(header + dp::ipv4::kTotalLength, static_cast<uint16_t>(total));
  dp::store16(header + dp::ipv4::kChecksum, 0);
  dp::store16(header + dp::ipv4::kChecksum, dp::ipv4_checksum(header, header_bytes));
}

// A NIC that cuts or joins segments shows the capture a packet that no link carries, with a length of more than a frame
// or, beyond 64 KiB, of nothing. Such a packet is followed as the longest frame of its flow would be. True if it was
// such.
bool fit(BareFrame& frame, uint32_t longest) {
  if (frame.bytes.size() < dp::ethernet::kBytes + dp::ipv4::kMinBytes) return false;
  uint8_t* header = frame.bytes.data() + dp::ethernet::kBytes;
  const auto stored = static_cast<uint32_t>(frame.bytes.size()) - dp::ethernet::kBytes;
  const uint16_t type = dp::load16(frame.bytes.data() + dp::ethernet::kType);
  const uint32_t most = std::min(frame.length, longest) - dp::ethernet::kBytes;
  bool is_cut = frame.length > longest;
  frame.length = std::min(frame.length, longest);
  if (type == dp::ethernet::kTypeIpv4) {
    const uint32_t header_bytes = (header[dp::ipv4::kVersionIhl] & 0x0fU) * 4;
    const uint32_t total = dp::load16(header + dp::ipv4::kTotalLength);
    if (header_bytes < dp::ipv4::kMinBytes || header_bytes > std::min(stored, most)) return is_cut;
    if (total != 0 && total <= most) return is_cut;
    if (!is_cut) return false;  // a fault, not a NIC's doing
    set_ipv4_length(header, header_bytes, most);
    return true;
  }
  if (type != dp::ethernet::kTypeIpv6 || stored < dp::ipv6::kBytes || most < dp::ipv6::kBytes) return is_cut;
  const uint32_t payload = dp::load16(header + dp::ipv6::kPayloadLength);
  if (is_cut && (payload == 0 || payload + dp::ipv6::kBytes > most))
    dp::store16(header + dp::ipv6::kPayloadLength, static_cast<uint16_t>(most - dp::ipv6::kBytes));
  return is_cut;
}

// To RoCEv2's port, and with no BTH because the capture ends before it.
bool is_cut_before_bth(const dp::Packet& packet, uint32_t stored, uint32_t length) {
  const dp::PacketMeta& meta = packet.meta();
  if ((meta.flags & (dp::kIsUdp | dp::kIsRoce | dp::kIsFragment)) != dp::kIsUdp || stored == length) return false;
  const bool is_roce = dp::load16(packet.data() + meta.l4_offset + dp::udp::kDestinationPort) == dp::udp::kRoceV2Port;
  return is_roce && meta.l4_offset + dp::udp::kBytes + dp::bth::kBytes > stored;
}

// The flow's identity, as far as it was captured.
EnteringFrame::Known known_by(const dp::PacketMeta& meta, bool is_cut) {
  const bool is_ip = meta.ether_type == dp::ethernet::kTypeIpv4 || meta.ether_type == dp::ethernet::kTypeIpv6;
  if ((meta.flags & (dp::kIsIpv4 | dp::kIsIpv6)) == 0)
    return is_ip && is_cut ? EnteringFrame::Known::kCutBeforeAddresses : EnteringFrame::Known::kWithoutIp;
  const bool has_ports = meta.ip_protocol == dp::ip::kUdp || meta.ip_protocol == dp::ip::kTcp;
  if (has_ports && (meta.flags & (dp::kIsUdp | dp::kIsTcp | dp::kIsFragment)) == 0)
    return EnteringFrame::Known::kCutBeforePorts;
  return EnteringFrame::Known::kFlow;
}

}  // namespace

EnteringFrames::EnteringFrames(const Walker& walker, std::optional<LinkEnd> from)
    : walker_(walker),
      from_(from),
      hosts_(hosts_by_address(walker.testbed().fabric)),
      longest_(longest_frame(walker.testbed().fabric)) {}

EnteringFrame EnteringFrames::read(const dp::RecordedFrame& frame, uint32_t most_bytes) {
  EnteringFrame out;
  const uint32_t most_tagged = most_bytes + 8 * dp::ethernet::kTagBytes;
  out.frame = without_tags({frame.bytes, std::min(frame.captured, most_tagged)}, frame.length);
  out.frame.bytes.resize(std::min<size_t>({out.frame.bytes.size(), most_bytes, longest_}));
  out.is_oversize = fit(out.frame, longest_);
  dp::Packet& packet = scratch_.load(out.frame.bytes, out.frame.length);
  dp::parse(packet);
  out.known = known_by(packet.meta(), out.frame.bytes.size() < out.frame.length);
  if (out.known != EnteringFrame::Known::kFlow) return out;
  out.identity = identity_of(packet);
  out.is_cut_before_qp = is_cut_before_bth(packet, static_cast<uint32_t>(out.frame.bytes.size()), out.frame.length);
  return out;
}

std::optional<LinkEnd> EnteringFrames::sender_of(const EnteringFrame& entering) const {
  if (from_) return from_;
  const auto host = hosts_.find(entering.identity.source);
  return host == hosts_.end() ? std::nullopt : std::optional{LinkEnd{host->second, 0}};
}

void EnteringFrames::address_to_router(EnteringFrame& entering, LinkEnd sender) const {
  const LinkEnd first = walker_.testbed().fabric.peer_of(sender);
  dp::store_mac(entering.frame.bytes.data() + dp::ethernet::kDestination, walker_.router_mac(first.node));
}

}  // namespace softspine::analysis
