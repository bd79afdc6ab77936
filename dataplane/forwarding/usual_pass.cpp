// SPDX-License-Identifier: Apache-2.0
#include "dataplane/forwarding/usual_pass.hpp"

#include <cstring>

#include "dataplane/forwarding/stage_parts.hpp"
#include "dataplane/packet/checksum.hpp"

namespace softspine::dataplane {

namespace {

// What does not change from packet to packet, read once a burst.
struct UsualSwitch {
  explicit UsualSwitch(SwitchTables& its) : tables(its), state(*its.state), router(load48(state.router_mac.data())) {}

  SwitchTables& tables;
  const ForwardingState& state;
  uint64_t router;
};

[[gnu::noinline]] bool bridge_usual(const UsualSwitch& here, Packet& packet, uint16_t vlan,
                                    uint64_t destination) noexcept {
  PacketMeta& meta = packet.meta();
  if ((destination >> 40 & ethernet::kMulticastBit) != 0 || here.state.ports[meta.in_port].isolated) return false;
  const uint16_t out = here.tables.fdb.find(vlan, destination, meta.at);
  if (out == Fdb::kUnknown || out == meta.in_port) return false;
  classify_by(here.state.qos, true, meta);
  meta.vlan = vlan;
  meta.next_hop = kBridgedNextHop;
  meta.out_port = out;
  meta.verdict = Verdict::kForward;
  retag(here.state, packet, out);
  return true;
}

// The adjacency's number by which a packet leaves; kBridgedNextHop: it is not usual.
[[gnu::always_inline]] inline uint32_t route_usual(const ForwardingState& state, const Packet& packet,
                                                   const uint8_t* l3) noexcept {
  const RouteValue value{state.ipv4.lookup_ipv4(load32(l3 + ipv4::kDestination))};
  if (value.kind() == RouteKind::kAdjacency) return value.index();
  if (value.kind() != RouteKind::kEcmpGroup) [[unlikely]]
    return kBridgedNextHop;
  const EcmpGroup& group = state.groups[value.index()];
  if (group.mode != EcmpGroupMode::kHash || group.count == 0) [[unlikely]]
    return kBridgedNextHop;
  PacketMeta& meta = packet.meta();
  meta.hash = plain_ipv4_hash_of(state.hash, packet);
  return state.members[group.first + meta.hash % group.count];
}

// False: the packet is not usual, and its bytes are as they were. (Its source may have been learned, which the stages
// would do again.)
template <PassPorts P>
[[gnu::always_inline]] inline bool forward_one_usual(const UsualSwitch& here, Packet& packet) noexcept {
  const ForwardingState& state = here.state;
  PacketMeta& meta = packet.meta();
  const uint32_t flags = meta.flags;
  if (!meta.is_sound || (flags & kIsIpv4) == 0) [[unlikely]]
    return false;
  uint8_t* data = packet.data();
  const uint64_t destination = ethernet::destination_of(data);
  bool is_bridged = false;
  if constexpr (P == PassPorts::kBridged) {
    const PortForwarding& port = state.ports[meta.in_port];
    is_bridged = port.bridged();
    if (is_bridged) {
      const uint16_t vlan = vlan_of(port, meta);
      if (vlan == 0 || (data[ethernet::kSource] & ethernet::kMulticastBit) != 0) [[unlikely]]
        return false;
      here.tables.fdb.learn(vlan, ethernet::source_of(data), meta.in_port, meta.at);
      if (destination != here.router) return bridge_usual(here, packet, vlan, destination);
    }
  }
  if (!is_bridged && ((flags & kIsTagged) != 0 || destination != here.router)) [[unlikely]]
    return false;
  uint8_t* l3 = data + meta.l3_offset;
  if (l3[ipv4::kTtl] <= 1) [[unlikely]]
    return false;
  const uint32_t next_hop = route_usual(state, packet, l3);
  if (next_hop == kBridgedNextHop) [[unlikely]]
    return false;
  const Adjacency& adjacency = state.adjacencies[next_hop];
  if (meta.frame_bytes - meta.l3_offset > adjacency.mtu) [[unlikely]]
    return false;
  classify_by(state.qos, true, meta);
  meta.next_hop = next_hop;
  meta.out_port = adjacency.port;
  meta.vlan = adjacency.vlan;
  meta.verdict = Verdict::kForward;
  std::memcpy(data + ethernet::kDestination, adjacency.destination.data(), 12);  // both MACs, side by side
  decrement_ttl(l3);
  if ((flags & kIsTagged) != 0 || adjacency.vlan != 0) retag(state, packet, adjacency.port);
  return true;
}

}  // namespace

bool is_usual_switch(const ForwardingState& state) noexcept {
  return state.hash.is_plain() && state.lags == nullptr && !state.ages && state.port_qos.empty();
}

template <PassPorts P>
uint32_t forward_usual(SwitchTables& tables, Burst& burst) noexcept {
  const UsualSwitch here{tables};
  uint32_t taken = 0;
  for (Packet& packet : burst) {
    if (!forward_one_usual<P>(here, packet)) [[unlikely]]
      break;
    ++taken;
  }
  return taken;
}
template uint32_t forward_usual<PassPorts::kRouted>(SwitchTables&, Burst&) noexcept;
template uint32_t forward_usual<PassPorts::kBridged>(SwitchTables&, Burst&) noexcept;

}  // namespace softspine::dataplane
