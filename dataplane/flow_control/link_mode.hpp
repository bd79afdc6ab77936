// SPDX-License-Identifier: Apache-2.0
// The names of the modes; link_modes.hpp has a row for each.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

enum class LinkMode : uint8_t {
  kPfc,     // the receiver asks for pauses of priorities (802.1Qbb)
  kCredit,  // the receiver grants credit beforehand, as InfiniBand's does
  kPause,   // the receiver asks for pauses of the whole link (PAUSE, 802.3 annex 31B)
};

}  // namespace softspine::dataplane
