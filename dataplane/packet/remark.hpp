// SPDX-License-Identifier: Apache-2.0
// What a switch or a NIC has to say about a frame that it sends; captures show it as the frame's comment.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

enum class Remark : uint8_t {
  kNone,
  kCeMarked,     // ECN: this switch has turned ECT into CE
  kXoff,         // a pause frame that stops a priority
  kXon,          // one that lets priorities go, and stops none
  kXoffAgain,    // one that only repeats what it said before
  kHostFull,     // a NIC's: what waits for its host is too much
  kHostDrained,  // and no longer
};

// Null for kNone.
constexpr const char* text_of(Remark remark) {
  switch (remark) {
    case Remark::kNone: return nullptr;
    case Remark::kCeMarked: return "CE marked here: the queue is longer than its WRED profile's minimum";
    case Remark::kXoff: return "XOFF: a priority group has entered its headroom";
    case Remark::kXon: return "XON: the priority group has drained";
    case Remark::kHostFull: return "XOFF: the host behind this port takes less than comes";
    case Remark::kHostDrained: return "XON: the host behind this port has caught up";
    case Remark::kXoffAgain: return "XOFF again: before the last one lapses";
  }
  return nullptr;
}

}  // namespace softspine::dataplane
