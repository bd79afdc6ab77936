// SPDX-License-Identifier: Apache-2.0
// What a bad cable does to one direction of a link: a share of its frames never arrives, another share arrives
// damaged. The receiver sees neither, since its MAC drops a frame with a wrong FCS. Both are counted at the
// transmitter (LinkCounters).
//
// Shares are 32-bit fractions: 2^32 is every frame. Each frame is chosen independently, by a generator of the fault's
// own: the same seed takes the same frames, whatever else the nodes draw.
#pragma once

#include <cstdint>

#include "dataplane/units/rng.hpp"

namespace softspine::dataplane {

class LinkFault {
 public:
  static constexpr uint64_t kEvery = uint64_t{1} << 32;
  enum class Fate : uint8_t { kArrives, kLost, kDamaged };

  LinkFault(uint64_t lost_share, uint64_t damaged_share, Rng rng)
      : lost_(lost_share), damaged_(damaged_share), rng_(rng) {}

  Fate next() noexcept {
    const uint64_t draw = rng_.below(kEvery);
    if (draw < lost_) return Fate::kLost;
    return draw - lost_ < damaged_ ? Fate::kDamaged : Fate::kArrives;
  }

 private:
  uint64_t lost_;
  uint64_t damaged_;
  Rng rng_;
};

}  // namespace softspine::dataplane
