// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/nic_congestion.hpp"

#include <cstring>
#include <utility>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/icrc.hpp"
#include "dataplane/packet/parse.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kCnpReservedBytes = 16;
constexpr uint8_t kLastReliable = 0x1f;  // opcodes up to here are of reliable connections
constexpr uint8_t kAtomicAcknowledge = 0x12;

bool is_response(uint8_t opcode) {
  return opcode >= bth::kReadResponseFirst && opcode <= kAtomicAcknowledge;
}
bool is_reliable(const Packet& packet) {
  return (packet.meta().flags & kIsRoce) != 0 && bth_of(packet)[bth::kOpcode] <= kLastReliable;
}
bool is_cnp(const Packet& packet) {
  return (packet.meta().flags & kIsRoce) != 0 && bth_of(packet)[bth::kOpcode] == bth::kCnp;
}

struct Addresses {
  Ipv6Address source;
  Ipv6Address destination;
};
Ipv6Address mapped(const uint8_t* v4) {
  Ipv6Address address{};
  address[10] = address[11] = 0xff;
  std::memcpy(address.data() + 12, v4, 4);
  return address;
}
Addresses addresses_of(const Packet& packet) {
  const uint8_t* l3 = packet.data() + packet.meta().l3_offset;
  if ((packet.meta().flags & kIsIpv4) != 0) return {mapped(l3 + ipv4::kSource), mapped(l3 + ipv4::kDestination)};
  return {load_ipv6(l3 + ipv6::kSource), load_ipv6(l3 + ipv6::kDestination)};
}

uint32_t header_bytes(IpVersion version) {
  return version == IpVersion::k4 ? ipv4::kMinBytes : ipv6::kBytes;
}

void turn_round(uint8_t* a, uint8_t* b, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) std::swap(a[i], b[i]);
}

// At `l3` stands the marked packet's header.
void write_ip(uint8_t* l3, IpVersion version, uint8_t dscp, uint32_t payload_bytes) {
  const auto tos = static_cast<uint8_t>(dscp << 2 | ip::kEct0);
  if (version == IpVersion::k4) {
    turn_round(l3 + ipv4::kSource, l3 + ipv4::kDestination, 4);
    l3[ipv4::kTos] = tos;
    store16(l3 + ipv4::kTotalLength, static_cast<uint16_t>(ipv4::kMinBytes + payload_bytes));
    store16(l3 + ipv4::kId, 0);  // never fragmented (RFC 6864)
    store16(l3 + ipv4::kFragment, ipv4::kDontFragment);
    l3[ipv4::kTtl] = 64;
    store16(l3 + ipv4::kChecksum, 0);
    store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
  } else {
    turn_round(l3 + ipv6::kSource, l3 + ipv6::kDestination, 16);
    const uint32_t first = load32(l3) & ipv6::kFlowLabelMask;
    store32(l3, 6U << 28 | uint32_t{tos} << ipv6::kTrafficClassShift | first);
    store16(l3 + ipv6::kPayloadLength, static_cast<uint16_t>(payload_bytes));
    l3[ipv6::kHopLimit] = 64;
  }
}

// Empty if memory has run out, or the packet has what an answer cannot copy.
Packet make_cnp(const Packet& packet, uint32_t qp, uint8_t dscp, PacketPool& pool) {
  const PacketMeta& meta = packet.meta();
  const IpVersion version = (meta.flags & kIsIpv4) != 0 ? IpVersion::k4 : IpVersion::k6;
  const uint32_t l3_bytes = header_bytes(version);
  if (uint32_t{meta.l3_offset} + l3_bytes != meta.l4_offset) return Packet{};
  constexpr uint32_t kUdpBytes = udp::kBytes + bth::kBytes + kCnpReservedBytes + kIcrcBytes;
  Packet cnp = pool.make(meta.l4_offset + kUdpBytes);
  if (!cnp) return cnp;
  uint8_t* frame = cnp.data();
  std::memcpy(frame, packet.data(), meta.l4_offset + 2U);
  turn_round(frame + ethernet::kDestination, frame + ethernet::kSource, 6);
  uint8_t* l3 = frame + meta.l3_offset;
  write_ip(l3, version, dscp, kUdpBytes);
  uint8_t* udp = frame + meta.l4_offset;
  store16(udp + udp::kDestinationPort, udp::kRoceV2Port);
  store16(udp + udp::kLength, kUdpBytes);
  store16(udp + udp::kChecksum, 0);
  uint8_t* header = udp + udp::kBytes;
  std::memset(header, 0, bth::kBytes + kCnpReservedBytes);
  header[bth::kOpcode] = bth::kCnp;
  store16(header + bth::kPartitionKey, load16(bth_of(packet) + bth::kPartitionKey));
  header[bth::kCongestion] = bth::kBecn;
  store24(header + bth::kDestinationQp, qp);
  const uint32_t covered = l3_bytes + kUdpBytes - kIcrcBytes;
  store_icrc(l3 + covered, icrc_of(l3, covered, 0, version));
  return cnp;
}

}  // namespace

NicCongestion::NicCongestion(const NicConfig& config, NicCounters& counters)
    : config_(config), counters_(counters), senders_(QpPairs::kStreams), notifications_(QpPairs::kStreams) {
  heap_.reserve(QpPairs::kStreams);
}

uint16_t NicCongestion::stream_of(Way way, const Ipv6Address& peer, uint32_t qp, Instant now) noexcept {
  const bool sends = way == Way::kToPeer;
  return pairs_.find(
      way, peer, qp, now, [&](uint16_t stream) { return sends && senders_[stream].packets != 0; },
      [&](uint16_t stream, bool was_another) {
        counters_.flows_forgotten += was_another ? 1 : 0;
        if (sends) {
          senders_[stream].limiter.reset();
        } else {
          notifications_[stream] = {};
        }
      });
}

void NicCongestion::note(Way way, const uint8_t* header, uint16_t stream) noexcept {
  const uint32_t psn = load24(header + bth::kPsn);
  if (is_response(header[bth::kOpcode])) {
    pairs_.saw_response(way, stream, psn);
  } else {
    pairs_.saw_request(way, stream, psn);
  }
}

bool NicCongestion::keeps(Packet& packet, Instant now, Rate line) noexcept {
  if (!is_reliable(packet)) return false;
  const uint8_t* header = bth_of(packet);
  const uint16_t stream =
      stream_of(Way::kToPeer, addresses_of(packet).destination, load24(header + bth::kDestinationQp), now);
  if (stream == QpPairs::kNone) return false;
  note(Way::kToPeer, header, stream);
  if (header[bth::kOpcode] == bth::kAcknowledge) return false;
  Sender& sender = senders_[stream];
  if (!sender.limiter) sender.limiter.emplace(Rate{}, config_.parameters.congestion_control, line);
  const uint32_t frame_bytes = packet.frame_bytes();
  if (sender.packets == 0) {
    const Instant eligible = sender.limiter->eligible(now);
    if (eligible <= now) {
      sender.limiter->sent(now, std::max(frame_bytes, kMinFrameBytes) + kWireOverheadBytes);
      return false;
    }
    heap_.push(eligible, stream);
  }
  ++counters_.held_by_rate;
  ++sender.packets;
  ++packets_;
  bytes_ += frame_bytes;
  sender.waiting.push(std::move(packet));
  return true;
}

Packet NicCongestion::pop(uint16_t stream) noexcept {
  Sender& sender = senders_[stream];
  Packet packet = sender.waiting.pop();
  --sender.packets;
  --packets_;
  bytes_ -= packet.frame_bytes();
  return packet;
}

Packet NicCongestion::take(Instant now) noexcept {
  const auto stream = static_cast<uint16_t>(heap_.top_id());
  RateLimiter& limiter = *senders_[stream].limiter;
  Instant eligible = limiter.eligible(now);
  if (eligible > now) {
    heap_.replace_top(eligible);
    return Packet{};
  }
  Packet packet = pop(stream);
  limiter.sent(now, std::max(packet.frame_bytes(), kMinFrameBytes) + kWireOverheadBytes);
  if (senders_[stream].packets == 0) {
    heap_.pop();
  } else {
    eligible = limiter.eligible(now);
    heap_.replace_top(eligible);
  }
  return packet;
}

Packet NicCongestion::take_any() noexcept {
  if (heap_.empty()) return Packet{};
  const auto stream = static_cast<uint16_t>(heap_.top_id());
  Packet packet = pop(stream);
  if (senders_[stream].packets == 0) heap_.pop();
  return packet;
}

NicCongestion::Inspection NicCongestion::inspect(const Packet& packet, Instant now, PacketPool& pool) noexcept {
  if (is_cnp(packet)) {
    const uint32_t qp = load24(bth_of(packet) + bth::kDestinationQp);
    const uint16_t stream = pairs_.known(Way::kFromPeer, addresses_of(packet).source, qp);
    const uint16_t partner = stream == QpPairs::kNone ? QpPairs::kNone : pairs_.partner(Way::kFromPeer, stream);
    if (partner == QpPairs::kNone || !senders_[partner].limiter) {
      ++counters_.rp_cnp_ignored;
    } else {
      ++counters_.rp_cnp_handled;
      senders_[partner].limiter->on_cnp(now);
    }
    return {.ends_here = true, .answer = Packet{}};
  }
  if (!is_reliable(packet)) return {};
  const uint8_t* header = bth_of(packet);
  const uint16_t stream =
      stream_of(Way::kFromPeer, addresses_of(packet).source, load24(header + bth::kDestinationQp), now);
  if (stream == QpPairs::kNone) return {};
  note(Way::kFromPeer, header, stream);
  if ((packet.meta().dscp_ecn & ip::kEcnMask) != ip::kCe) return {};
  ++counters_.np_ecn_marked_roce_packets;
  return {.ends_here = false, .answer = answer(packet, stream, now, pool)};
}

Packet NicCongestion::answer(const Packet& packet, uint16_t stream, Instant now, PacketPool& pool) noexcept {
  const uint16_t partner = pairs_.partner(Way::kFromPeer, stream);
  if (partner == QpPairs::kNone) {
    ++counters_.np_cnp_unknown;
    return Packet{};
  }
  if (!notifications_[stream].answers(now, config_.parameters.cnp_interval)) return Packet{};
  Packet cnp = make_cnp(packet, pairs_.qp(Way::kToPeer, partner), config_.parameters.cnp_dscp, pool);
  if (cnp) {
    cnp.meta().at = now + nic_delay_of(config_.parameters.congestion_control);
    ++counters_.np_cnp_sent;
  } else {
    ++counters_.np_cnp_unsent;
  }
  return cnp;
}

}  // namespace softspine::dataplane
