// SPDX-License-Identifier: Apache-2.0
// The CRCs of the hash laboratory: no inversion at either end, any start value, whole words of eight bytes.
//
//   ARC (BISYNC)   reflected 0xA001   "123456789" from 0 → 0xBB3D
//   KERMIT (CCITT) reflected 0x8408   "123456789" from 0 → 0x2189
//   CRC-32C        reflected 0x82F63B78, the processor's instruction
//
// The 16-bit ones take eight bytes a step, from eight tables of 512 B: T_k[b] is what is left in the register of
// the byte b with k zero bytes behind it, and a CRC is linear, so the register is the sum of what is left of each.
#pragma once

#include <x86intrin.h>

#include <array>
#include <cstdint>

namespace softspine::dataplane {

using Crc16Tables = std::array<std::array<uint16_t, 256>, 8>;

constexpr uint16_t crc16_of_byte(uint16_t polynomial, uint16_t crc, uint8_t byte) {
  crc = static_cast<uint16_t>(crc ^ byte);
  for (int bit = 0; bit < 8; ++bit) {
    crc = static_cast<uint16_t>((crc & 1) != 0 ? crc >> 1 ^ polynomial : crc >> 1);
  }
  return crc;
}

constexpr Crc16Tables crc16_tables(uint16_t polynomial) {
  Crc16Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint16_t crc = crc16_of_byte(polynomial, 0, static_cast<uint8_t>(byte));
    for (auto& table : tables) {
      table[byte] = crc;
      crc = crc16_of_byte(polynomial, crc, 0);
    }
  }
  return tables;
}

inline constexpr uint16_t kArcPolynomial = 0xA001;
inline constexpr uint16_t kKermitPolynomial = 0x8408;
inline constexpr Crc16Tables kArcTables = crc16_tables(kArcPolynomial);
inline constexpr Crc16Tables kKermitTables = crc16_tables(kKermitPolynomial);

// `word`: eight bytes as memory has them.
inline uint16_t crc16_of_word(const Crc16Tables& t, uint16_t crc, uint64_t word) {
  word ^= crc;
  const auto byte = [word](int i) { return static_cast<uint8_t>(word >> (8 * i)); };
  return static_cast<uint16_t>(t[7][byte(0)] ^ t[6][byte(1)] ^ t[5][byte(2)] ^ t[4][byte(3)] ^ t[3][byte(4)] ^
                               t[2][byte(5)] ^ t[1][byte(6)] ^ t[0][byte(7)]);
}

inline uint32_t crc32c_of_word(uint32_t crc, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
inline uint32_t crc32c_of_byte(uint32_t crc, uint8_t byte) {
  return _mm_crc32_u8(crc, byte);
}

constexpr uint16_t bits_reversed(uint16_t v) {
  uint32_t x = v;
  x = (x & 0x5555) << 1 | (x >> 1 & 0x5555);
  x = (x & 0x3333) << 2 | (x >> 2 & 0x3333);
  x = (x & 0x0f0f) << 4 | (x >> 4 & 0x0f0f);
  return static_cast<uint16_t>(x << 8 | x >> 8);
}

}  // namespace softspine::dataplane
