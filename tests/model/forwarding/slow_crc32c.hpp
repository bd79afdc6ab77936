// SPDX-License-Identifier: Apache-2.0
// CRC-32C one bit at a time, as RFC 3720 appendix B.4 defines it, without the first and last inversion.
#pragma once

#include <cstdint>
#include <vector>

namespace softspine::tests {

inline uint32_t slow_crc32c(const std::vector<uint8_t>& bytes, uint32_t start) {
  constexpr uint32_t kReflectedCastagnoli = 0x82f63b78;
  uint32_t crc = start;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ kReflectedCastagnoli : crc >> 1;
  }
  return crc;
}

}  // namespace softspine::tests
