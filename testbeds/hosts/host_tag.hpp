// SPDX-License-Identifier: Apache-2.0
// The 802.1Q tag of a host whose port is a tagged member of a VLAN, as a NIC with VLAN offload puts it on and takes it
// off: whatever the host makes and reads has none.
//
// Every frame that it sends has the tag, but for those of the link itself, which has no VLANs: pauses, credit, LACPDUs.
// Of the frames that come in, those with its VLAN's tag and those of the link are its own. Lengths on the wire count
// the tag.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/lacp/lacpdu.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::testbeds {

inline bool is_of_link(uint16_t ether_type) {
  return ether_type == dataplane::ethernet::kTypeMacControl || ether_type == dataplane::kTypeSlowProtocols;
}

// Of a frame without a tag; 0 if it is not IP.
inline uint8_t dscp_of(const dataplane::Packet& packet) {
  using namespace dataplane;
  const uint8_t* l3 = packet.data() + ethernet::kBytes;
  switch (load16(packet.data() + ethernet::kType)) {
    case ethernet::kTypeIpv4: return l3[ipv4::kTos] >> 2;
    case ethernet::kTypeIpv6: return load32(l3) >> (ipv6::kTrafficClassShift + 2) & 0x3f;
    default: return 0;
  }
}

inline void put_tag(dataplane::Packet& packet, uint16_t tci) noexcept {
  using namespace dataplane;
  uint8_t* tag = packet.insert_bytes(ethernet::kType, ethernet::kTagBytes);
  store16(tag, ethernet::kTypeVlan);
  store16(tag + 2, tci);
}

struct HostTag {
  uint16_t vlan = 0;  // 0: none, and frames have no tag
  std::array<uint8_t, 64> pcp_of_dscp{};

  bool is_there() const { return vlan != 0; }
  uint32_t bytes() const { return is_there() ? dataplane::ethernet::kTagBytes : 0; }
  uint16_t tci_of(uint8_t dscp) const {
    return is_there() ? static_cast<uint16_t>(pcp_of_dscp[dscp] << 13 | vlan) : uint16_t{0};
  }
  // On a frame that is ready to leave, unless it is the link's.
  void put_on(dataplane::Packet& packet) const noexcept {
    using dataplane::ethernet::kType;
    if (is_there() && !is_of_link(dataplane::load16(packet.data() + kType))) [[unlikely]]
      put_tag(packet, tci_of(dscp_of(packet)));
  }
};

// Takes the tag off. False if the frame is another VLAN's, or nobody's: then it is as it came.
inline bool take_tag(dataplane::Packet& packet, uint16_t vlan) noexcept {
  using namespace dataplane;
  if (packet.stored_bytes() < ethernet::kBytes) return true;  // too short for a tag, and for anything else
  const uint16_t type = load16(packet.data() + ethernet::kType);
  if (is_of_link(type)) return true;
  const bool is_its = type == ethernet::kTypeVlan && packet.stored_bytes() >= ethernet::kBytes + ethernet::kTagBytes &&
                      (load16(packet.data() + ethernet::kTci) & ethernet::kVlanMask) == vlan;
  if (is_its) packet.remove_bytes(ethernet::kType, ethernet::kTagBytes);
  return is_its;
}

}  // namespace softspine::testbeds
