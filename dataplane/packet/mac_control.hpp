// SPDX-License-Identifier: Apache-2.0
// Shared by all frames of MAC control (802.3 clause 31): one hop, no tag, the shortest frame there is.
//
//   0   destination 01-80-C2-00-00-01      6   source: the port's own MAC
//   12  type 0x8808                        14  opcode    16  its fields, then zeros             60 bytes + FCS
#pragma once

#include <cstdint>
#include <cstring>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::dataplane {

namespace mac_control {
inline constexpr uint32_t kOpcode = ethernet::kBytes;
inline constexpr uint32_t kFrameBytes = kMinFrameBytes;
}  // namespace mac_control

// Writes mac_control::kFrameBytes bytes at `out`; the opcode's fields are 0.
inline void write_mac_control(uint8_t* out, const MacAddress& own, uint16_t opcode) {
  std::memset(out, 0, mac_control::kFrameBytes);
  store_mac(out + ethernet::kDestination, kMacControlMac);
  store_mac(out + ethernet::kSource, own);
  store16(out + ethernet::kType, ethernet::kTypeMacControl);
  store16(out + mac_control::kOpcode, opcode);
}

}  // namespace softspine::dataplane
