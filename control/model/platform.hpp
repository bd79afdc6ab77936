// SPDX-License-Identifier: Apache-2.0
// Switch chips, as far as their shared buffer goes: what no table of SONiC says, since it is the chip's nature.
//
//   cell          what memory is given out in
//   slices        parts that the memory is made of: a pool of SONiC's tables is divided evenly, and what a port takes
//   in
//                 or sends is held to the share of its slice (Tomahawk's XPEs, Tomahawk 5's ITMs)
//   pools_total   the size of an ingress pool has in it what its groups reserve, headroom included
// Sources: sonic-mgmt's parameters of its QoS tests (cell sizes, and thresholds that agree with these slices to four
// cells: docs/truth.md), SONiC's pool sizes.
// Trident 3, Tomahawk 3, Tomahawk 4 and Tomahawk 6 are not here: published thresholds do not follow from such rules.
#pragma once

#include <array>
#include <cstdint>

namespace softspine::control {

enum class Platform : uint8_t {
  kTrident2,
  kTomahawk,
  kTomahawk2,
  kTomahawk5,
  kSpectrum,
  kSpectrum2,
  kSpectrum3,
  kSpectrum4,
};

struct PlatformRow {
  Platform platform;
  const char* word;  // of `platform` in testbed files
  uint32_t cell_bytes;
  uint32_t slices;
  bool pools_total;
};

inline constexpr std::array kPlatforms{PlatformRow{Platform::kTrident2, "trident2", 208, 1, true},
                                       PlatformRow{Platform::kTomahawk, "tomahawk", 208, 4, false},
                                       PlatformRow{Platform::kTomahawk2, "tomahawk2", 208, 4, false},
                                       PlatformRow{Platform::kTomahawk5, "tomahawk5", 254, 2, false},
                                       PlatformRow{Platform::kSpectrum, "spectrum", 96, 1, false},
                                       PlatformRow{Platform::kSpectrum2, "spectrum2", 144, 1, false},
                                       PlatformRow{Platform::kSpectrum3, "spectrum3", 144, 1, false},
                                       PlatformRow{Platform::kSpectrum4, "spectrum4", 192, 1, false}};

constexpr const PlatformRow& row_of(Platform platform) {
  return kPlatforms[static_cast<size_t>(platform)];
}

}  // namespace softspine::control
