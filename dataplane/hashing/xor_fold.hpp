// SPDX-License-Identifier: Apache-2.0
// The exclusive or of all 16-bit words of a key, as memory has them.
#pragma once

#include <cstdint>

namespace softspine::dataplane {

inline uint32_t folded(const uint64_t* words, uint32_t count) noexcept {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum ^= words[i];
  sum ^= sum >> 32;
  return static_cast<uint16_t>(sum ^ sum >> 16);
}

}  // namespace softspine::dataplane
