// SPDX-License-Identifier: Apache-2.0
// The VLAN of a host's ports, and the PCP of the tag that a built-in host puts on its packets.
//
// A tagged host is a tagged member at its switches: all of its packets have the tag, except link-local frames (pauses,
// credit, LACPDUs). Default PCP: the class that the packet's DSCP has at the switch, as Linux's egress-qos-map would
// set it; if the switch's port trusts PCP and so has no DSCP map, the class by AZURE. Packets other than IP get the
// PCP of DSCP 0. The kernel of an outside host decides by itself.
#pragma once

#include <cstdint>
#include <optional>

#include "control/model/port_maps.hpp"
#include "dataplane/forwarding/azure_maps.hpp"

namespace softspine::control {

inline constexpr uint16_t kMaxVlan = 4'094;  // 4095 is reserved (802.1Q, table 9-2)

struct HostVlan {
  uint16_t id = 0;         // 0: not given, and no frame carries a number
  bool is_tagged = false;  // else the switch's port takes and gives untagged frames
  std::optional<uint8_t> pcp;
};

inline uint8_t pcp_of(const HostVlan& vlan, const PortMaps& maps, uint8_t dscp) {
  return vlan.pcp.value_or(maps.trusts_pcp ? dataplane::kAzureDscpToTc[dscp] : maps.dscp_to_tc[dscp]);
}
// The traffic class at the switch's port, whose maps these are.
inline uint8_t class_of(const HostVlan& vlan, const PortMaps& maps, uint8_t dscp) {
  if (!maps.trusts_pcp) return maps.dscp_to_tc[dscp];
  return vlan.is_tagged ? maps.dot1p_to_tc[pcp_of(vlan, maps, dscp)] : uint8_t{0};
}

}  // namespace softspine::control
