// SPDX-License-Identifier: Apache-2.0
#include "dataplane/forwarding/stages.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/forwarding/stage_parts.hpp"
#include "dataplane/hashing/usual_key.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

// The stages write bytes, which for the compiler might change anything: what they read more than once they
// read into locals first.

// Apart from the usual case, which needs no room for a key.
template <HashAlgorithm A>
[[gnu::noinline]] uint32_t hash_of_key(SwitchTables& tables, const EcmpHash& hash, const Packet& packet) {
  HashKey key;
  hash.build(header_view(packet), key);
  tables.short_keys += key.cut_short;
  return hash.of<A>(key);
}

template <HashAlgorithm A>
inline uint32_t hash_of(SwitchTables& tables, Draws& draws, const EcmpHash& hash, Packet& packet) {
  if constexpr (A == HashAlgorithm::kRoundRobin) return static_cast<uint32_t>(draws.drawn++);
  if constexpr (row_of(A).is_drawn) return draws.next(tables.state->chance);
  const PacketMeta& meta = packet.meta();
  const uint8_t* data = packet.data();
  const UsualFields usual =
      usual_fields(hash.usual_key(), meta.flags, meta.ip_protocol, data + meta.l3_offset, data + meta.l4_offset);
  return usual.are_all ? hash_of_usual<A>(hash, usual) : hash_of_key<A>(tables, hash, packet);
}

// The same for a hash that is_plain().
inline uint32_t plain_hash_of(SwitchTables& tables, const EcmpHash& hash, Packet& packet) {
  if ((packet.meta().flags & kIsIpv4) == 0) [[unlikely]]
    return hash_of_key<HashAlgorithm::kCrc>(tables, hash, packet);
  return plain_ipv4_hash_of(hash, packet);
}

template <HashAlgorithm A>
inline uint32_t hashed_member(const ForwardingState& state, const EcmpGroup& group, uint32_t hash) {
  if constexpr (row_of(A).by_threshold) return state.members[group.first + threshold_bucket(hash, group.count)];
  return state.members[group.first + hash % group.count];
}

// Everything but the mode `hash`.
template <HashAlgorithm A>
[[gnu::noinline]] uint32_t member_by_mode(SwitchTables& tables, Chances& chances, const EcmpGroup& group,
                                          Packet& packet) {
  const ForwardingState& state = *tables.state;
  PacketMeta& meta = packet.meta();
  const auto draw = [&] { return chances.draws.next(state.chance); };
  switch (group.mode) {
    case EcmpGroupMode::kInPort: meta.hash = meta.in_port; break;
    case EcmpGroupMode::kSpray: meta.hash = draw(); break;
    case EcmpGroupMode::kFlowlet:
      meta.hash = chances.flowlets.draw_of(state.flowlets, hash_of<A>(tables, chances.draws, state.hash, packet),
                                           meta.at, draw);
      break;
    case EcmpGroupMode::kHash: break;
  }
  const uint32_t member = state.members[group.first + meta.hash % group.count];
  if (member != kDeadMember) return member;
  meta.hash = hash_of<A>(tables, chances.draws, state.hash, packet);
  return hashed_member<A>(state, group.of_live(), meta.hash);
}

// The next hop of a group for this packet.
template <HashAlgorithm A, bool IsPlain>
inline uint32_t member_of(SwitchTables& tables, Chances& chances, const EcmpGroup& group, Packet& packet) {
  const ForwardingState& state = *tables.state;
  if (group.mode != EcmpGroupMode::kHash) [[unlikely]]
    return member_by_mode<A>(tables, chances, group, packet);
  uint32_t hash = 0;
  if constexpr (IsPlain) {
    hash = plain_hash_of(tables, state.hash, packet);
  } else {
    hash = hash_of<A>(tables, chances.draws, state.hash, packet);
  }
  packet.meta().hash = hash;
  return hashed_member<A>(state, group, hash);
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

// Whether PFC may pause who sends such packets.
bool is_lossless(const ForwardingState& state, const PacketMeta& meta) {
  if (state.plan == nullptr || meta.in_port >= state.plan->ports.size()) return false;
  const PortQosPlan& port = state.plan->ports[meta.in_port];
  return (port.pfc_enabled & port.priorities_of_pg[meta.priority_group]) != 0;
}

void to_next_hop(const Adjacency& adjacency, PacketMeta& meta, uint32_t next_hop) {
  if (meta.frame_bytes - meta.l3_offset > adjacency.mtu) [[unlikely]] {
    meta.hash = adjacency.mtu;  // for the answer
    return drop_and_notify(meta, DropReason::kMtuExceeded);
  }
  meta.next_hop = next_hop;
  meta.out_port = adjacency.port;
  meta.vlan = adjacency.vlan;
  meta.verdict = Verdict::kForward;
}

// Local: the switch itself asks for the neighbour; the packet that made it ask ends here.
[[gnu::noinline]] void to_subnet(SwitchTables& tables, Packet& packet, uint32_t subnet) {
  PacketMeta& meta = packet.meta();
  const uint32_t neighbour = tables.neighbours.find(destination_of(packet));
  if (neighbour != NeighbourTable::kNone) {
    return to_next_hop(tables.neighbours.adjacency(neighbour), meta, neighbour | kLearnedNextHop);
  }
  meta.next_hop = subnet;
  drop_and_notify(meta, DropReason::kNeighbourIncomplete);
}

// For a host on a bridged port: is the switch's knowledge of it still valid?
[[gnu::noinline]] void age(SwitchTables& tables, Packet& packet) {
  PacketMeta& meta = packet.meta();
  if (meta.verdict != Verdict::kForward || meta.next_hop == kBridgedNextHop) return;
  const ForwardingState& state = *tables.state;
  const Adjacency& adjacency = adjacency_of(tables, meta.next_hop);
  if (adjacency.vlan == 0) return;
  const AddressBytes address = destination_of(packet);
  const bool is_ipv6 = (meta.flags & kIsIpv6) != 0;
  const auto is_its = [&](const Subnet& subnet) { return subnet.vlan == adjacency.vlan && subnet.is_ipv6 == is_ipv6; };
  const auto subnet = static_cast<uint32_t>(std::ranges::find_if(state.subnets, is_its) - state.subnets.begin());
  if (!tables.neighbours.is_fresh(address, meta.at, state.ages->arp_timeout)) {
    meta.next_hop = subnet;
    return drop_and_notify(meta, DropReason::kNeighbourIncomplete);
  }
  if (tables.fdb.is_fresh(adjacency.vlan, load48(adjacency.destination.data()), meta.at)) return;
  end_unknown(tables, meta);
  if (meta.verdict == Verdict::kFlood) return rewrite_one(tables, packet);
  meta.next_hop = subnet;
  meta.flags |= kMustAnswer;
}

// Behind an override, or beside it: the packed route.
[[gnu::noinline]] uint32_t overridden(SwitchTables& tables, const PacketMeta& meta, uint32_t set) {
  const OverrideTable& overrides = tables.state->overrides;
  const OverrideEntry* const entry = overrides.find(set, meta.in_port);
  if (entry != nullptr && !entry->is_withdrawn() && tables.state->is_open(*entry, tables.down)) {
    ++tables.overridden.hits;
    return RouteValue{RouteKind::kAdjacency, entry->next_hop}.packed();
  }
  tables.overridden.fallbacks += entry != nullptr ? 1 : 0;
  return overrides.set(set).route;
}

template <HashAlgorithm A, bool IsPlain = false>
inline void route_packet(SwitchTables& tables, Chances& chances, const ForwardingState& state, Packet& packet) {
  PacketMeta& meta = packet.meta();
  if (meta.reason != DropReason::kCount) [[unlikely]]
    return drop(meta, meta.reason);
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const uint32_t flags = meta.flags;
  uint32_t found = PrefixTrie::kMiss;
  uint8_t ttl = 0;
  if ((flags & kIsIpv4) != 0) [[likely]] {
    found = state.ipv4.lookup_ipv4(load32(l3 + ipv4::kDestination));
    ttl = l3[ipv4::kTtl];
  } else if ((flags & kIsIpv6) != 0) {
    found = state.ipv6.lookup(l3 + ipv6::kDestination);
    ttl = l3[ipv6::kHopLimit];
  } else {
    return drop(meta, DropReason::kUnsupported);
  }
  if (found >= RouteValue::least_of(RouteKind::kLocal)) [[unlikely]] {
    if (RouteValue{found}.kind() == RouteKind::kOverride) found = overridden(tables, meta, RouteValue{found}.index());
    if (found == PrefixTrie::kMiss) return drop_and_notify(meta, DropReason::kNoRoute);
    if (RouteValue{found}.kind() == RouteKind::kLocal) {
      meta.verdict = Verdict::kLocal;
      return;
    }
  }
  const RouteValue value{found};
  if (ttl <= 1) [[unlikely]]
    return drop_and_notify(meta, DropReason::kTtlExpired);
  if (value.kind() == RouteKind::kSubnet) return to_subnet(tables, packet, value.index());
  uint32_t next_hop = value.index();
  if (value.kind() == RouteKind::kEcmpGroup) {
    const EcmpGroup& group = state.groups[next_hop];
    if (group.count == 0) return drop_and_notify(meta, DropReason::kNoMember);
    next_hop = member_of<A, IsPlain>(tables, chances, group, packet);
  }
  to_next_hop(state.adjacencies[next_hop], meta, next_hop);
}

// The VLAN that ECMP's key has: route has written that by which the packet leaves.
uint16_t vlan_it_came_by(const ForwardingState& state, const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  if (meta.in_port == kLocalPort) return 0;
  const PortForwarding& port = state.ports[meta.in_port];
  if (!port.bridged()) return 0;
  const auto id = static_cast<uint16_t>(
      (meta.flags & kIsTagged) != 0 ? load16(packet.data() + ethernet::kTci) & ethernet::kVlanMask : 0);
  return id == 0 ? port.untagged_vlan : id;
}

template <HashAlgorithm A>
inline void pick_link_of(SwitchTables& tables, Draws& draws, const LagTable& lags, Packet& packet) {
  PacketMeta& meta = packet.meta();
  if (meta.verdict != Verdict::kForward || !is_lag(meta.out_port)) return;
  const LagTable::Lag& lag = lags.lag_at(meta.out_port);
  if (lag.count == 0) [[unlikely]] {
    meta.out_port = kLocalPort;
    return drop_and_notify(meta, DropReason::kNoMember);
  }
  const uint16_t leaves_by = std::exchange(meta.vlan, vlan_it_came_by(*tables.state, packet));
  const uint32_t hash = hash_of<A>(tables, draws, lags.hash, packet);
  meta.vlan = leaves_by;
  meta.out_port = lags.members[lag.first + lags.hash.bucket_of(hash, lag.count)];
}

// One packet, with its age and its link.
void route_by(SwitchTables& tables, Chances& chances, Packet& packet) {
  const ForwardingState& state = *tables.state;
  with_algorithm(state.hash.algorithm(), [&]<HashAlgorithm A>() { route_packet<A>(tables, chances, state, packet); });
  if (state.ages) age(tables, packet);
  if (state.lags == nullptr) return;
  with_algorithm(state.lags->hash.algorithm(),
                 [&]<HashAlgorithm A>() { pick_link_of<A>(tables, chances.lag_draws, *state.lags, packet); });
}

inline void rewrite_packet(const SwitchTables& tables, Packet& packet) {
  PacketMeta& meta = packet.meta();
  const Adjacency& adjacency = adjacency_of(tables, meta.next_hop);
  const uint32_t flags = meta.flags;
  const bool may_need_tag = (flags & kIsTagged) != 0 || adjacency.vlan != 0;
  uint8_t* data = packet.data();
  uint8_t* l3 = data + meta.l3_offset;
  std::memcpy(data + ethernet::kDestination, adjacency.destination.data(), 12);  // both MACs, side by side
  if ((flags & kIsIpv4) != 0) [[likely]] {
    decrement_ttl(l3);
  } else {
    --l3[ipv6::kHopLimit];
  }
  if (may_need_tag) retag(*tables.state, packet, meta.out_port);
}

}  // namespace

void accept_routed(SwitchTables& tables, Burst& burst) noexcept {
  const uint64_t router = load48(tables.state->router_mac.data());
  for (Packet& packet : burst) {
    if (packet.meta().verdict != Verdict::kContinue) continue;
    if (accept_routed_one(router, packet)) [[unlikely]]
      return burst.put_off_behind(packet);
  }
}

void classify(const SwitchTables& tables, Burst& burst) noexcept {
  const ForwardingState& state = *tables.state;
  const bool alike = state.port_qos.empty();
  for (Packet& packet : burst) {
    PacketMeta& meta = packet.meta();
    if (meta.verdict != Verdict::kContinue) continue;
    classify_by(alike ? state.qos : state.port_qos[meta.in_port], (meta.flags & (kIsIpv4 | kIsIpv6)) != 0, meta);
  }
}

void route_one(SwitchTables& tables, Packet& packet) noexcept {
  route_by(tables, tables.own_chances, packet);
}

void pick_links(SwitchTables& tables, const LagTable& lags, Burst& burst) noexcept {
  with_algorithm(lags.hash.algorithm(), [&]<HashAlgorithm A>() {
    for (Packet& packet : burst) pick_link_of<A>(tables, tables.chances.lag_draws, lags, packet);
  });
}

void end_unknown(SwitchTables& tables, PacketMeta& meta) noexcept {
  const ForwardingState& state = *tables.state;
  const UnicastMiss miss = state.ages ? state.ages->fdb_unicast_miss : UnicastMiss::kFlood;
  const bool is_dropped =
      miss == UnicastMiss::kDrop || (miss == UnicastMiss::kDropLossless && is_lossless(state, meta));
  if (is_dropped) return drop(meta, DropReason::kNeighbourIncomplete);
  ++tables.unknown_floods;
  meta.verdict = Verdict::kFlood;
}

void route(SwitchTables& tables, Burst& burst) noexcept {
  const ForwardingState& state = *tables.state;
  if (state.ages) [[unlikely]] {
    for (Packet& packet : burst) {
      if (packet.meta().verdict == Verdict::kContinue) route_by(tables, tables.chances, packet);
    }
    return;
  }
  if (state.hash.is_plain()) [[likely]] {
    for (Packet& packet : burst) {
      if (packet.meta().verdict == Verdict::kContinue)
        route_packet<HashAlgorithm::kCrc, true>(tables, tables.chances, state, packet);
    }
    return;
  }
  with_algorithm(state.hash.algorithm(), [&]<HashAlgorithm A>() {
    for (Packet& packet : burst) {
      if (packet.meta().verdict == Verdict::kContinue) route_packet<A>(tables, tables.chances, state, packet);
    }
  });
}

void rewrite_one(const SwitchTables& tables, Packet& packet) noexcept {
  rewrite_packet(tables, packet);
}

void rewrite(const SwitchTables& tables, Burst& burst) noexcept {
  for (Packet& packet : burst) {
    PacketMeta& meta = packet.meta();
    if (meta.verdict != Verdict::kForward) continue;
    if (meta.next_hop == kBridgedNextHop) {
      retag(*tables.state, packet, meta.out_port);
    } else {
      rewrite_packet(tables, packet);
    }
  }
}

}  // namespace softspine::dataplane
