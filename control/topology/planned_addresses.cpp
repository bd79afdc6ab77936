// SPDX-License-Identifier: Apache-2.0
#include "control/topology/planned_addresses.hpp"

namespace softspine::control {

Ipv6Address planned_ipv6(uint16_t area, uint32_t group, uint32_t number) {
  Ipv6Address out;
  out.bytes = {0xFD, 0x00, static_cast<uint8_t>(area >> 8), static_cast<uint8_t>(area)};
  for (size_t i = 0; i < 4; ++i) {
    out.bytes[4 + i] = static_cast<uint8_t>(group >> (24 - 8 * i));
    out.bytes[12 + i] = static_cast<uint8_t>(number >> (24 - 8 * i));
  }
  return out;
}

Ipv6Address ipv6_in(const Ipv6Prefix& prefix, uint32_t number) {
  Ipv6Address out = prefix.address;
  for (size_t i = 0; i < 4; ++i) out.bytes[12 + i] = static_cast<uint8_t>(out.bytes[12 + i] | (number >> (24 - 8 * i)));
  return out;
}

}  // namespace softspine::control
