// SPDX-License-Identifier: Apache-2.0
// The stages of a switch's forwarding: each takes a burst, looks at the packets that no earlier stage has ended, and
// writes its finding into their meta. Which stages a switch has, and in which order, is decided in pipelines/.
//
// No stage keeps a packet, allocates or frees. A stage that ends a packet sets the verdict.
#pragma once

#include <memory>

#include "dataplane/egress/port_counters.hpp"
#include "dataplane/forwarding/fdb.hpp"
#include "dataplane/forwarding/forwarding_state.hpp"
#include "dataplane/forwarding/neighbour_table.hpp"
#include "dataplane/hashing/flowlet_table.hpp"
#include "dataplane/packet/burst.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

// The draws that decide where no hash does.
struct Chances {
  FlowletTable flowlets;
  Draws draws;
  Draws lag_draws{Draws::kApart};
};

// The tables that the stages work on: the published state, and what the worker has learned.
struct SwitchTables {
  std::shared_ptr<const ForwardingState> state;
  Fdb fdb;
  NeighbourTable neighbours;
  Chances chances;
  // For packets that are routed by themselves: others of their burst, which come later, have been routed before.
  Chances own_chances{.flowlets = {}, .draws = {2 * Draws::kApart}, .lag_draws = {3 * Draws::kApart}};
  DownPorts down;  // those of the switch
  OverrideCounters overridden;
  uint64_t short_keys = 0;      // packets that ended before a UDF of their key did
  uint64_t unknown_floods = 0;  // packets flooded since the port of their MAC was not known
};

// next_hop of a packet that goes to a learned neighbour: the bit, and its index in the neighbour table.
inline constexpr uint32_t kLearnedNextHop = 1U << 31;

// next_hop of a packet that is switched at layer 2: nothing is rewritten but the tag.
inline constexpr uint32_t kBridgedNextHop = UINT32_MAX;

inline void drop(PacketMeta& meta, DropReason reason) {
  meta.verdict = Verdict::kDrop;
  meta.reason = reason;
}
// A drop that LocalAgent answers: by an ICMP error to the sender, or by asking for the neighbour's MAC.
inline void drop_and_notify(PacketMeta& meta, DropReason reason) {
  drop(meta, reason);
  meta.flags |= kMustAnswer;
}

// A frame that came in at a routed port: one to the router's MAC (`router`, as load48 reads it) goes on; broadcast
// and multicast go to the switch itself. Returns whether the switch may learn from the packet, or act, when it ends:
// ARP, ND, LACP.
inline bool accept_routed_one(uint64_t router, Packet& packet) noexcept {
  PacketMeta& meta = packet.meta();
  const uint8_t* data = packet.data();
  meta.vlan = 0;
  if ((meta.flags & kIsTagged) != 0) [[unlikely]] {
    drop(meta, DropReason::kVlanNotAllowed);
  } else if (ethernet::destination_of(data) == router) [[likely]] {
    if ((meta.flags & kIsUdp) != 0) [[likely]]
      return false;
    if (meta.ether_type == ethernet::kTypeArp) meta.verdict = Verdict::kLocal;
    return meta.verdict == Verdict::kLocal || meta.ip_protocol == ip::kIcmp6;
  } else if ((data[0] & ethernet::kMulticastBit) != 0) {
    meta.verdict = Verdict::kLocal;
    return true;
  } else {
    drop(meta, packet.is_copy() ? DropReason::kForOthers : DropReason::kNotForUs);
  }
  return false;
}
// Routed ports: only frames to the router's MAC, broadcast and multicast go on. The packets behind one from which the
// switch may learn are put off: what a burst holds decides nothing. So does bridge().
void accept_routed(SwitchTables& tables, Burst& burst) noexcept;
// Ports of a bridge: VLAN, learning, and layer-2 forwarding; frames to the router's MAC go on to route.
void bridge(SwitchTables& tables, Burst& burst) noexcept;
// DSCP or PCP → traffic class → queue and priority group.
void classify(const SwitchTables& tables, Burst& burst) noexcept;
// Longest prefix match, ECMP member by hash, learned neighbours and their ages; checks of TTL and MTU.
void route(SwitchTables& tables, Burst& burst) noexcept;
// Which member of its LAG a packet leaves by, if its next hop is one.
void pick_links(SwitchTables& tables, const LagTable& lags, Burst& burst) noexcept;
inline void pick_link(SwitchTables& tables, Burst& burst) noexcept {
  const LagTable* lags = tables.state->lags.get();
  if (lags != nullptr) [[unlikely]]
    pick_links(tables, *lags, burst);
}
// Writes MACs, TTL and checksum of routed packets, and the tag on bridged ports.
void rewrite(const SwitchTables& tables, Burst& burst) noexcept;

// The same for one packet outside a burst: an answer that the switch itself has made, or a flooded copy. route_one()
// also picks the link, and has chances of its own.
void route_one(SwitchTables& tables, Packet& packet) noexcept;
void rewrite_one(const SwitchTables& tables, Packet& packet) noexcept;
void retag(const ForwardingState& state, Packet& packet, uint16_t port) noexcept;

// Floods or drops a packet for a MAC whose port is not known (neighbour_ages.hpp).
void end_unknown(SwitchTables& tables, PacketMeta& meta) noexcept;

// The parsed headers from which the hash's key is built.
inline HeaderView header_view(const Packet& packet) noexcept {
  const PacketMeta& meta = packet.meta();
  return {.frame = packet.data(),
          .stored_bytes = packet.stored_bytes(),
          .frame_bytes = meta.frame_bytes,
          .l3_offset = meta.l3_offset,
          .l4_offset = meta.l4_offset,
          .in_port = meta.in_port,
          .vlan = meta.vlan,
          .ether_type = meta.ether_type,
          .flags = meta.flags,
          .ip_protocol = meta.ip_protocol};
}

inline const Adjacency& adjacency_of(const SwitchTables& tables, uint32_t next_hop) noexcept {
  return (next_hop & kLearnedNextHop) != 0 ? tables.neighbours.adjacency(next_hop & ~kLearnedNextHop)
                                           : tables.state->adjacencies[next_hop];
}

}  // namespace softspine::dataplane
