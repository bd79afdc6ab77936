// SPDX-License-Identifier: Apache-2.0
// The layer-2 stage: VLAN membership, learning, forwarding and flooding inside a VLAN, and the tag.
#include <algorithm>

#include "dataplane/forwarding/stage_parts.hpp"
#include "dataplane/forwarding/stages.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

// 802.1Q 8.6.3: never forwarded by a bridge.
bool is_reserved(uint64_t destination) {
  constexpr uint64_t kFirst = 0x0180c2000000;
  return destination >= kFirst && destination <= kFirst + 0x0f;
}

// True for a frame of the link, which has no VLANs, and so without a tag: a LACPDU.
bool is_of_link(const PacketMeta& meta, const uint8_t* data) {
  return (meta.flags & kIsTagged) == 0 && is_reserved(ethernet::destination_of(data));
}

// ARP and ND are looked at by the switch if they may be for it; it floods what is not.
bool may_concern_router(const PacketMeta& meta, const Packet& packet) {
  if (meta.ether_type == ethernet::kTypeArp) return true;
  return (meta.flags & kIsIpv6) != 0 && meta.ip_protocol == ip::kIcmp6 && packet.stored_bytes() > meta.l4_offset &&
         packet.data()[meta.l4_offset] >= icmp::k6NeighbourSolicitation &&
         packet.data()[meta.l4_offset] <= icmp::k6NeighbourAdvertisement;
}

// To a group of stations: returns whether the switch looks at it.
bool bridge_to_many(const PortForwarding& port, Packet& packet, uint64_t destination) {
  PacketMeta& meta = packet.meta();
  if (is_reserved(destination)) {
    drop(meta, DropReason::kUnsupported);
    return true;
  }
  if (may_concern_router(meta, packet)) {
    meta.verdict = Verdict::kLocal;
    return true;
  }
  meta.verdict = Verdict::kFlood;
  if (port.isolated) drop(meta, DropReason::kNoLayer2);
  return false;
}

// Returns as accept_routed_one() whether the switch may learn from the packet when it ends, beside its source.
bool bridge_one(SwitchTables& tables, uint64_t router, const PortForwarding& port, Packet& packet) {
  PacketMeta& meta = packet.meta();
  const uint16_t vlan = vlan_of(port, meta);
  const uint8_t* data = packet.data();
  if (vlan == 0) [[unlikely]] {
    const bool is_lacp = is_of_link(meta, data);
    drop(meta, is_lacp ? DropReason::kUnsupported : DropReason::kVlanNotAllowed);
    return is_lacp;
  }
  if ((data[ethernet::kSource] & ethernet::kMulticastBit) != 0) {
    drop(meta, DropReason::kBadSource);
    return false;
  }
  const uint64_t destination = ethernet::destination_of(data);
  tables.fdb.learn(vlan, ethernet::source_of(data), meta.in_port, meta.at);
  meta.vlan = vlan;
  meta.next_hop = kBridgedNextHop;
  if (destination == router) [[likely]] {
    const bool teaches = may_concern_router(meta, packet);
    if (teaches) meta.verdict = Verdict::kLocal;
    return teaches;
  }
  if ((data[0] & ethernet::kMulticastBit) != 0) return bridge_to_many(port, packet, destination);
  if (port.isolated) {
    drop(meta, DropReason::kNoLayer2);
    return false;
  }
  const uint16_t out = tables.fdb.find(vlan, destination, meta.at);
  if (out == Fdb::kUnknown) {
    end_unknown(tables, meta);
  } else if (out == meta.in_port) {
    drop(meta, DropReason::kSamePort);
  } else {
    meta.out_port = out;
    meta.verdict = Verdict::kForward;
  }
  return false;
}

void move_headers(PacketMeta& meta, int bytes) {
  meta.l3_offset = static_cast<uint16_t>(meta.l3_offset + bytes);
  if (meta.l4_offset != 0) meta.l4_offset = static_cast<uint16_t>(meta.l4_offset + bytes);
}

}  // namespace

void bridge(SwitchTables& tables, Burst& burst) noexcept {
  const ForwardingState& state = *tables.state;
  const uint64_t router = load48(state.router_mac.data());
  const PortForwarding* ports = state.ports.data();
  for (Packet& packet : burst) {
    PacketMeta& meta = packet.meta();
    if (meta.verdict != Verdict::kContinue) continue;
    const PortForwarding& port = ports[meta.in_port];
    const bool teaches = port.bridged() ? bridge_one(tables, router, port, packet) : accept_routed_one(router, packet);
    if (teaches) [[unlikely]]
      return burst.put_off_behind(packet);
  }
}

// Makes the frame's tag what the egress port wants. The VLAN is in meta.vlan.
void retag(const ForwardingState& state, Packet& packet, uint16_t port) noexcept {
  PacketMeta& meta = packet.meta();
  const bool wants = meta.vlan != 0 && std::ranges::binary_search(state.ports[port].tagged_vlans, meta.vlan);
  const bool has = (meta.flags & kIsTagged) != 0;
  if (wants && has) {
    uint8_t* tci = packet.data() + ethernet::kTci;
    store16(tci, static_cast<uint16_t>((load16(tci) & ~ethernet::kVlanMask) | meta.vlan));
  }
  if (wants == has) return;
  if (has) {
    packet.remove_bytes(ethernet::kType, ethernet::kTagBytes);
    meta.flags &= static_cast<uint8_t>(~kIsTagged);
    move_headers(meta, -int{ethernet::kTagBytes});
  } else {
    uint8_t* tag = packet.insert_bytes(ethernet::kType, ethernet::kTagBytes);
    store16(tag, ethernet::kTypeVlan);
    store16(tag + 2, static_cast<uint16_t>(meta.traffic_class << 13 | meta.vlan));
    meta.flags |= kIsTagged;
    move_headers(meta, int{ethernet::kTagBytes});
  }
}

}  // namespace softspine::dataplane
