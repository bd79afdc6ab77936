// SPDX-License-Identifier: Apache-2.0
#include "dataplane/forwarding/stages.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

bool is_to(const uint8_t* data, const MacAddress& mac) {
  return load48(data) == load48(mac.data());
}

// The member of a group for this packet: hash of the flow, modulo the members.
uint32_t member_of(const ForwardingState& state, const Group& group, Packet& packet) {
  PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const bool has_ports = (meta.flags & (kIsUdp | kIsTcp)) != 0;
  const uint8_t* l4 = packet.data() + meta.l4_offset;
  uint32_t ports = 0;
  if (has_ports) std::memcpy(&ports, l4, 4);
  uint64_t rest = uint64_t{meta.ip_protocol} << 32 | ports;
  if (state.hash.config().destination_qp && (meta.flags & kIsRoce) != 0) {
    uint32_t qp;  // as the packet has it, like the rest; the byte behind it falls off
    std::memcpy(&qp, l4 + udp::kBytes + bth::kDestinationQp, 4);
    rest |= uint64_t{qp} << 40;
  }
  if ((meta.flags & kIsIpv4) != 0) {
    uint64_t addresses;
    std::memcpy(&addresses, l3 + ipv4::kSource, 8);
    meta.hash = state.hash.of_words(addresses, rest);
  } else {
    FlowKey key{};
    std::memcpy(key.bytes, l3 + ipv6::kSource, 32);
    std::memcpy(key.bytes + 32, &rest, 8);
    key.length = 40;
    meta.hash = state.hash.of(key);
  }
  return state.members[group.first + meta.hash % group.count];
}

AddressBytes destination_of(const Packet& packet) {
  AddressBytes address{};
  const PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  if ((meta.flags & kIsIpv4) != 0) {
    std::memcpy(address.data(), l3 + ipv4::kDestination, 4);
  } else {
    std::memcpy(address.data(), l3 + ipv6::kDestination, 16);
  }
  return address;
}

void to_next_hop(SwitchTables& tables, Packet& packet, uint32_t next_hop) {
  PacketMeta& meta = packet.meta();
  const Adjacency& adjacency = adjacency_of(tables, next_hop);
  if (meta.frame_bytes - meta.l3_offset > adjacency.mtu) [[unlikely]] {
    meta.hash = adjacency.mtu;  // for the answer
    return drop_and_tell(meta, DropReason::kMtuExceeded);
  }
  meta.next_hop = next_hop;
  meta.out_port = adjacency.port;
  meta.vlan = adjacency.vlan;
  meta.verdict = Verdict::kForward;
}

// Local: the switch itself asks for the neighbour; the packet that made it ask ends here.
void to_subnet(SwitchTables& tables, Packet& packet, uint32_t subnet) {
  PacketMeta& meta = packet.meta();
  const uint32_t neighbour = tables.neighbours.find(destination_of(packet));
  if (neighbour != NeighbourTable::kNone) return to_next_hop(tables, packet, neighbour | kLearnedNextHop);
  meta.next_hop = subnet;
  drop_and_tell(meta, DropReason::kNeighbourIncomplete);
}

uint8_t ttl_of(const Packet& packet) {
  const uint8_t* l3 = packet.data() + packet.meta().l3_offset;
  return (packet.meta().flags & kIsIpv4) != 0 ? l3[ipv4::kTtl] : l3[ipv6::kHopLimit];
}

}  // namespace

const Adjacency& adjacency_of(const SwitchTables& tables, uint32_t next_hop) noexcept {
  return (next_hop & kLearnedNextHop) != 0 ? tables.neighbours.adjacency(next_hop & ~kLearnedNextHop)
                                           : tables.state->adjacencies[next_hop];
}

void accept_routed_one(const MacAddress& router, Packet& packet) noexcept {
  PacketMeta& meta = packet.meta();
  meta.vlan = 0;
  if ((meta.flags & kIsTagged) != 0) {
    drop(meta, DropReason::kVlanNotAllowed);
  } else if (is_to(packet.data(), router)) [[likely]] {
    if (meta.ether_type == ethernet::kTypeArp) meta.verdict = Verdict::kLocal;
  } else if ((packet.data()[0] & ethernet::kMulticastBit) != 0) {
    meta.verdict = Verdict::kLocal;
  } else {
    drop(meta, DropReason::kNotForUs);
  }
}

void accept_routed(SwitchTables& tables, Burst& burst) noexcept {
  const MacAddress& router = tables.state->router_mac;
  for (Packet& packet : burst) {
    if (packet.meta().verdict == Verdict::kContinue) accept_routed_one(router, packet);
  }
}

void classify(const SwitchTables& tables, Burst& burst) noexcept {
  const QosMaps& maps = tables.state->qos;
  for (Packet& packet : burst) {
    PacketMeta& meta = packet.meta();
    if (meta.verdict != Verdict::kContinue) continue;
    uint8_t tc = 0;
    if ((meta.flags & (kIsIpv4 | kIsIpv6)) != 0) {
      tc = maps.dscp_to_tc[meta.dscp_ecn >> 2];
    } else if ((meta.flags & kIsTagged) != 0) {
      tc = maps.dot1p_to_tc[meta.vlan >> 13];
    }
    meta.traffic_class = tc;
    meta.queue = maps.tc_to_queue[tc];
    meta.priority_group = maps.tc_to_pg[tc];
  }
}

void route_one(SwitchTables& tables, Packet& packet) noexcept {
  PacketMeta& meta = packet.meta();
  const ForwardingState& state = *tables.state;
  if (meta.reason != DropReason::kCount) return drop(meta, meta.reason);
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  uint32_t found = PrefixTrie::kMiss;
  if ((meta.flags & kIsIpv4) != 0) [[likely]] {
    found = state.ipv4.lookup(l3 + ipv4::kDestination);
  } else if ((meta.flags & kIsIpv6) != 0) {
    found = state.ipv6.lookup(l3 + ipv6::kDestination);
  } else {
    return drop(meta, DropReason::kUnsupported);
  }
  if (found == PrefixTrie::kMiss) return drop_and_tell(meta, DropReason::kNoRoute);
  const RouteValue value{found};
  if (value.kind() == RouteKind::kLocal) {
    meta.verdict = Verdict::kLocal;
    return;
  }
  if (ttl_of(packet) <= 1) [[unlikely]]
    return drop_and_tell(meta, DropReason::kTtlExpired);
  switch (value.kind()) {
    case RouteKind::kGroup: {
      const Group& group = state.groups[value.index()];
      if (group.count == 0) return drop_and_tell(meta, DropReason::kNoMember);
      return to_next_hop(tables, packet, member_of(state, group, packet));
    }
    case RouteKind::kAdjacency: return to_next_hop(tables, packet, value.index());
    case RouteKind::kSubnet: return to_subnet(tables, packet, value.index());
    case RouteKind::kLocal: break;
  }
}

void route(SwitchTables& tables, Burst& burst) noexcept {
  for (Packet& packet : burst) {
    if (packet.meta().verdict == Verdict::kContinue) route_one(tables, packet);
  }
}

void rewrite_one(const SwitchTables& tables, Packet& packet) noexcept {
  PacketMeta& meta = packet.meta();
  const Adjacency& adjacency = adjacency_of(tables, meta.next_hop);
  uint8_t* data = packet.data();
  std::memcpy(data + ethernet::kDestination, adjacency.destination.data(), 12);  // both MACs, side by side
  uint8_t* l3 = data + meta.l3_offset;
  if ((meta.flags & kIsIpv4) != 0) {
    decrement_ttl(l3);
  } else {
    --l3[ipv6::kHopLimit];
  }
  if (((meta.flags & kIsTagged) != 0) || adjacency.vlan != 0) retag(*tables.state, packet, adjacency.port);
}

void rewrite(const SwitchTables& tables, Burst& burst) noexcept {
  for (Packet& packet : burst) {
    PacketMeta& meta = packet.meta();
    if (meta.verdict != Verdict::kForward) continue;
    if (meta.next_hop == kBridgedNextHop) {
      retag(*tables.state, packet, meta.out_port);
    } else {
      rewrite_one(tables, packet);
    }
  }
}

}  // namespace softspine::dataplane
