// SPDX-License-Identifier: Apache-2.0
// SONiC's AZURE maps, the default of switches, built-in hosts and benches, and of the built-in profile `azure`
// (control/rows/built_in_profiles.cpp), whose text is made from them.
// Source: SONiC, files/build_templates/qos_config.j2.
#pragma once

#include <array>
#include <cstdint>

namespace softspine::dataplane {

// DSCP 3 → traffic class 3, 4 → 4, 5 → 2, 46 → 5, 48 → 6, 8 → 0, the rest → 1.
inline constexpr std::array<uint8_t, 64> kAzureDscpToTc = [] {
  std::array<uint8_t, 64> map{};
  map.fill(1);
  map[3] = 3;
  map[4] = 4;
  map[5] = 2;
  map[46] = 5;
  map[48] = 6;
  map[8] = 0;
  return map;
}();
inline constexpr std::array<uint8_t, 8> kAzureTcToQueue{0, 1, 2, 3, 4, 5, 6, 7};
inline constexpr std::array<uint8_t, 8> kAzureTcToPg{0, 0, 0, 3, 4, 0, 0, 7};
// SONiC gives no map for 802.1p: a priority is its own traffic class.
inline constexpr std::array<uint8_t, 8> kOwnTcOfDot1p{0, 1, 2, 3, 4, 5, 6, 7};

}  // namespace softspine::dataplane
