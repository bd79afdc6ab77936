// SPDX-License-Identifier: Apache-2.0
// The plain buffer policy: each queue has a limit in bytes of its own, and nothing is shared.
//
//   admitted  ⇔  queued bytes + frame bytes ≤ limit
//
// `queued` counts a frame from admission until its last bit has left. Where the shared buffer
// (SAI pools, priority groups, headroom) goes in: it answers the same question from more accounts.
// Invariant: queued ≤ limit at any instant; a limit of 0 drops everything.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

class TailDrop {
 public:
  static constexpr bool admits(uint64_t queued_bytes, uint32_t frame_bytes, uint32_t limit_bytes) {
    return queued_bytes + frame_bytes <= limit_bytes;
  }
};

}  // namespace softspine::dataplane
