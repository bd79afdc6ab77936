// SPDX-License-Identifier: Apache-2.0
// Steps that the stages (stages.cpp, bridge.cpp) and the pass over usual packets (usual_pass.cpp) have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dataplane/forwarding/forwarding_state.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

// The VLAN of a frame that came in at a bridged port; 0: it must not.
inline uint16_t vlan_of(const PortForwarding& port, const PacketMeta& meta) {
  if ((meta.flags & kIsTagged) == 0) return port.untagged_vlan;
  const auto id = static_cast<uint16_t>(meta.vlan & ethernet::kVlanMask);
  if (id == 0) return port.untagged_vlan;  // a priority tag
  return std::ranges::binary_search(port.tagged_vlans, id) ? id : uint16_t{0};
}

// The traffic class, queue and priority group; `is_ip`: by DSCP, unless the maps want the PCP of what is tagged.
[[gnu::always_inline]] inline void classify_by(const QosMaps& maps, bool is_ip, PacketMeta& meta) noexcept {
  uint8_t tc = 0;
  if (is_ip && (meta.flags & maps.pcp_flags) == 0) [[likely]] {
    tc = maps.dscp_to_tc[meta.dscp_ecn >> 2];
  } else if ((meta.flags & kIsTagged) != 0) {
    tc = maps.dot1p_to_tc[meta.vlan >> 13];
  }
  meta.traffic_class = tc;
  meta.queue = maps.tc_to_queue[tc];
  meta.priority_group = maps.tc_to_pg[tc];
}

// The hash of an IPv4 packet for a hash that is_plain(), in as few steps as there are.
inline uint32_t plain_ipv4_hash_of(const EcmpHash& hash, const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  const uint8_t* data = packet.data();
  uint32_t ports = 0;
  if ((meta.flags & (kIsUdp | kIsTcp)) != 0) [[likely]]
    std::memcpy(&ports, data + meta.l4_offset, 4);
  uint64_t addresses;
  std::memcpy(&addresses, data + meta.l3_offset + ipv4::kSource, 8);
  return hash.of_plain(addresses, uint64_t{meta.ip_protocol} << 32 | ports);
}

}  // namespace softspine::dataplane
