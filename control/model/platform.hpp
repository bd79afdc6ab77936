// SPDX-License-Identifier: Apache-2.0
// Switch chips: the properties of their shared buffers, which no table of SONiC has.
//
//   cell          the unit that memory is allocated in
//   slices        parts that the memory is made of: a pool of SONiC's tables is divided evenly, and what
//                 comes in by a port is held to the share of its slice (Tomahawk's XPEs, Tomahawk 5's ITMs)
//   pools_total   an ingress pool's size includes what its groups reserve, and their headroom
//   pools_whole   an egress pool is whole cells in each slice, rounded up, and takes one cell more: so the published
//                 first drops of lossy queues on both chips come out to the cell (docs/truth.md)
//   queue_extra   cells that a queue with reserved memory holds in addition: they count towards its limit, but not as
//                 use of the pool. sonic-mgmt on Tomahawk 2: 8 cells are reserved, the pool's use counts from
//                 the 17th cell on (pkts_num_fill_min, pkts_num_fill_egr_min), the first drop fits a reserve of 8
// Sources: sonic-mgmt's parameters of its QoS tests (cell sizes, and thresholds that agree with these slices to four
// cells: docs/truth.md), SONiC's pool sizes.
// Trident 3, Tomahawk 3, Tomahawk 4 and Tomahawk 6 are known by name only: their published thresholds do not follow
// from these rules, and their own rules are not public. A profile that names one of them is refused with that reason.
#pragma once

#include <array>
#include <cstdint>

namespace softspine::control {

enum class Platform : uint8_t {
  kTrident2,
  kTomahawk,
  kTomahawk2,
  kTomahawk5,
  kTrident3,
  kTomahawk3,
  kTomahawk4,
  kTomahawk6,
  kSpectrum,
  kSpectrum2,
  kSpectrum3,
  kSpectrum4,
};

struct PlatformRow {
  Platform platform;
  const char* word;     // of `platform` in testbed files
  uint32_t cell_bytes;  // 0: its rules are not public
  uint32_t slices;
  bool pools_total;
  bool pools_whole;
  uint32_t queue_extra;
};

inline constexpr std::array kPlatforms{PlatformRow{Platform::kTrident2, "trident2", 208, 1, true, true, 0},
                                       PlatformRow{Platform::kTomahawk, "tomahawk", 208, 4, false, true, 0},
                                       PlatformRow{Platform::kTomahawk2, "tomahawk2", 208, 4, false, false, 8},
                                       PlatformRow{Platform::kTomahawk5, "tomahawk5", 254, 2, false, false, 0},
                                       PlatformRow{Platform::kTrident3, "trident3", 0, 0, false, false, 0},
                                       PlatformRow{Platform::kTomahawk3, "tomahawk3", 0, 0, false, false, 0},
                                       PlatformRow{Platform::kTomahawk4, "tomahawk4", 0, 0, false, false, 0},
                                       PlatformRow{Platform::kTomahawk6, "tomahawk6", 0, 0, false, false, 0},
                                       PlatformRow{Platform::kSpectrum, "spectrum", 96, 1, false, false, 0},
                                       PlatformRow{Platform::kSpectrum2, "spectrum2", 144, 1, false, false, 0},
                                       PlatformRow{Platform::kSpectrum3, "spectrum3", 144, 1, false, false, 0},
                                       PlatformRow{Platform::kSpectrum4, "spectrum4", 192, 1, false, false, 0}};

constexpr const PlatformRow& row_of(Platform platform) {
  return kPlatforms[static_cast<size_t>(platform)];
}

constexpr bool has_public_rules(Platform platform) {
  return row_of(platform).cell_bytes != 0;
}

}  // namespace softspine::control
