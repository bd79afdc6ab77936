// SPDX-License-Identifier: Apache-2.0
// The CRCs of the hash laboratory: no inversion at either end, any start value, whole words of eight bytes.
//
//   ARC (BISYNC)   reflected 0xA001   "123456789" from 0 → 0xBB3D
//   KERMIT (CCITT) reflected 0x8408   "123456789" from 0 → 0x2189
//   CRC-32C        reflected 0x82F63B78, the processor's instruction
//   Ethernet       reflected 0xEDB88320  "123456789" from all ones, inverted → 0xCBF43926
//   Koopman        reflected 0xEB31D82E  "123456789" from all ones → 0xD2C22F51 (CRC-32/MEF)
//
// All but CRC-32C take eight bytes a step by two carry-less products (Barrett's reduction, exact for polynomials):
// with W the word, the register added to its first bytes, w the register's bits, and µ = ⌊x^(64 + w) / P⌋,
//   q = ⌊W µ / x^64⌋ = ⌊W x^w / P⌋        the CRC = W x^w − q P = (q P) mod x^w
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

constexpr uint32_t bits_reversed(uint32_t x) {
  x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
  x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
  x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
  return __builtin_bswap32(x);
}
constexpr uint16_t bits_reversed(uint16_t v) {
  return static_cast<uint16_t>(bits_reversed(uint32_t{v}) >> 16);
}

template <typename T>
struct CrcBy {
  uint64_t quotient;    // µ, reversed, one place up: bit 0 is the first bit of µ, which contributes W itself
  uint64_t polynomial;  // P without its first bit, reversed, one place up: so that the CRC is the product's upper half
};

// `polynomial` as its register has it, reflected.
template <typename T>
constexpr CrcBy<T> crc_by(T polynomial) {
  constexpr int kWidth = 8 * sizeof(T);
  const uint64_t whole = uint64_t{1} << kWidth | bits_reversed(polynomial);
  uint64_t quotient = 1;
  uint64_t rest = 0;
  for (int i = 64 + kWidth; i >= 0; --i) {  // x^(64 + width) divided by P, its coefficient of x^i at a time
    rest = rest << 1 | (i == 64 + kWidth ? 1U : 0U);
    if ((rest >> kWidth & 1) == 0) continue;
    rest ^= whole;
    if (i > 0 && i < 64) quotient |= uint64_t{1} << (64 - i);  // 63 − i reversed, one up; x^0 would be beyond
  }
  return {quotient, uint64_t{polynomial} << 1};
}

inline constexpr uint16_t kArcPolynomial = 0xA001;
inline constexpr uint16_t kKermitPolynomial = 0x8408;
inline constexpr uint32_t kEthernetPolynomial = 0xEDB88320;
inline constexpr uint32_t kKoopmanPolynomial = 0xEB31D82E;
inline constexpr CrcBy<uint16_t> kArc = crc_by(kArcPolynomial);
inline constexpr CrcBy<uint16_t> kKermit = crc_by(kKermitPolynomial);
inline constexpr CrcBy<uint32_t> kEthernet = crc_by(kEthernetPolynomial);
inline constexpr CrcBy<uint32_t> kKoopman = crc_by(kKoopmanPolynomial);

// `words`: eight bytes each, as memory has them. The register stays in the upper half of a vector, where one product
// leaves it and the next one reads it: moving it to a general register and back would cost as much as the products.
template <typename T>
inline T crc_of_words(const CrcBy<T>& by, T start, const uint64_t* words, uint32_t count) {
  const __m128i quotient = _mm_set1_epi64x(static_cast<int64_t>(by.quotient));
  const __m128i polynomial = _mm_set1_epi64x(static_cast<int64_t>(by.polynomial));
  __m128i crc = _mm_set_epi64x(start, 0);
  for (uint32_t i = 0; i < count; ++i) {
    const __m128i word = _mm_xor_si128(crc, _mm_set1_epi64x(static_cast<int64_t>(words[i])));
    crc = _mm_clmulepi64_si128(_mm_clmulepi64_si128(word, quotient, 0x01), polynomial, 0x00);
  }
  return static_cast<T>(_mm_extract_epi64(crc, 1));
}

inline uint32_t crc32c_of_word(uint32_t crc, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
inline uint32_t crc32c_of_byte(uint32_t crc, uint8_t byte) {
  return _mm_crc32_u8(crc, byte);
}

}  // namespace softspine::dataplane
