// SPDX-License-Identifier: Apache-2.0
// A remark of a switch or a NIC on a frame that it sends; captures show it as the frame's comment.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

enum class Remark : uint8_t {
  kNone,
  kCeMarked,     // ECN: this switch has turned ECT into CE
  kXoff,         // a pause frame that stops a priority
  kXon,          // a pause frame that resumes priorities and stops none
  kXoffAgain,    // a pause frame that only repeats the last one
  kHostFull,     // a NIC's XOFF: too much waits for its host
  kHostDrained,  // a NIC's XON: that has drained
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
