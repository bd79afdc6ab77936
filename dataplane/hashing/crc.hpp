// SPDX-License-Identifier: Apache-2.0
// The CRCs of the hash laboratory: no inversion at either end, any start value, whole words of eight bytes.
//
//   ARC (BISYNC)   reflected 0xA001   "123456789" from 0 → 0xBB3D
//   KERMIT (CCITT) reflected 0x8408   "123456789" from 0 → 0x2189
//   CRC-32C        reflected 0x82F63B78, the processor's instruction
//
// The 16-bit ones take eight bytes a step by two carry-less products (Barrett's reduction, exact for polynomials):
// with W the word, the register added to its first bytes, and µ = ⌊x^80 / P⌋,
//   q = ⌊W µ / x^64⌋ = ⌊W x^16 / P⌋        the CRC = W x^16 − q P = (q P) mod x^16
// all bit-reversed, as the register is: what lies above x^64 is then the product's lower half.
#pragma once

#include <x86intrin.h>

#include <cstdint>

namespace softspine::dataplane {

constexpr uint16_t crc16_of_byte(uint16_t polynomial, uint16_t crc, uint8_t byte) {
  crc = static_cast<uint16_t>(crc ^ byte);
  for (int bit = 0; bit < 8; ++bit) {
    crc = static_cast<uint16_t>((crc & 1) != 0 ? crc >> 1 ^ polynomial : crc >> 1);
  }
  return crc;
}

constexpr uint16_t bits_reversed(uint16_t v) {
  uint32_t x = v;
  x = (x & 0x5555) << 1 | (x >> 1 & 0x5555);
  x = (x & 0x3333) << 2 | (x >> 2 & 0x3333);
  x = (x & 0x0f0f) << 4 | (x >> 4 & 0x0f0f);
  return static_cast<uint16_t>(x << 8 | x >> 8);
}

struct Crc16 {
  uint64_t quotient;    // µ, reversed, one place up: its own first bit is W itself
  uint64_t polynomial;  // P without its first bit, reversed, one place up: so that the CRC is the product's upper half
};

// `polynomial` as its register has it, reflected.
constexpr Crc16 crc16_by(uint16_t polynomial) {
  const uint32_t whole = 1U << 16 | bits_reversed(polynomial);
  uint64_t quotient = 1;
  uint32_t rest = 0;
  for (int i = 80; i >= 0; --i) {  // x^80 divided by P, its coefficient of x^i at a time
    rest = rest << 1 | (i == 80 ? 1U : 0U);
    if ((rest >> 16 & 1) == 0) continue;
    rest ^= whole;
    if (i > 0 && i < 64) quotient |= uint64_t{1} << (64 - i);  // 63 − i reversed, one up; x^0 would be beyond
  }
  return {quotient, uint64_t{polynomial} << 1};
}

inline constexpr uint16_t kArcPolynomial = 0xA001;
inline constexpr uint16_t kKermitPolynomial = 0x8408;
inline constexpr Crc16 kArc = crc16_by(kArcPolynomial);
inline constexpr Crc16 kKermit = crc16_by(kKermitPolynomial);

// `word`: eight bytes as memory has them.
inline uint16_t crc16_of_word(const Crc16& by, uint16_t crc, uint64_t word) {
  const auto lower = [](uint64_t v) { return _mm_cvtsi64_si128(static_cast<int64_t>(v)); };
  const __m128i quotient = _mm_clmulepi64_si128(lower(word ^ crc), lower(by.quotient), 0);
  const __m128i product = _mm_clmulepi64_si128(quotient, lower(by.polynomial), 0);
  return static_cast<uint16_t>(_mm_extract_epi64(product, 1));
}

inline uint32_t crc32c_of_word(uint32_t crc, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
inline uint32_t crc32c_of_byte(uint32_t crc, uint8_t byte) {
  return _mm_crc32_u8(crc, byte);
}

}  // namespace softspine::dataplane
