// SPDX-License-Identifier: Apache-2.0
// XXH3's 64-bit hash of short inputs: 8 to 128 bytes, a multiple of 8. A well-mixed hash: every bit of the input
// flips each bit of the result with a probability of 1/2, so the choices of two tiers with different seeds are not
// correlated.
//
// Source: the xxHash project's specification, XXH3, its default secret, with a seed.
// The result is libxxhash's, bit for bit (tests/model/hashing).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

class Xxh3 {
 public:
  // `words` of eight bytes as memory has them, 1 to 16.
  static uint64_t of(const uint64_t* input, uint32_t words, uint64_t seed) noexcept {
    if (words == 2) [[likely]]
      return of_16(input[0], input[1], seed);
    return words == 1 ? of_8(input[0], seed) : of_more(input, words, seed);
  }

  static uint64_t of_16(uint64_t first, uint64_t last, uint64_t seed) noexcept {
    const uint64_t low = first ^ ((secret(3) ^ secret(4)) + seed);
    const uint64_t high = last ^ ((secret(5) ^ secret(6)) - seed);
    return avalanche(16 + __builtin_bswap64(low) + high + folded_product(low, high));
  }

 private:
  // The default secret's first 128 bytes, as little-endian words.
  static constexpr std::array<uint64_t, 16> kSecret{
      0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072,
      0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0,
      0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
      0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8};
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
  static constexpr uint64_t kAvalanche = 0x165667919E3779F9;
  static constexpr uint64_t kShort = 0x9FB21C651E98DF25;

  static constexpr uint64_t secret(uint32_t word) { return kSecret[word]; }
  static uint64_t folded_product(uint64_t a, uint64_t b) {
    const Uint128 product = static_cast<Uint128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  static uint64_t avalanche(uint64_t h) {
    h ^= h >> 37;
    h *= kAvalanche;
    return h ^ h >> 32;
  }
  static uint64_t of_8(uint64_t input, uint64_t seed) noexcept {
    seed ^= uint64_t{__builtin_bswap32(static_cast<uint32_t>(seed))} << 32;
    const uint64_t flip = (secret(1) ^ secret(2)) - seed;
    uint64_t h = std::rotl(input, 32) ^ flip;  // the last four bytes below the first four
    h ^= std::rotl(h, 49) ^ std::rotl(h, 24);
    h *= kShort;
    h ^= (h >> 35) + 8;
    h *= kShort;
    return h ^ h >> 28;
  }
  static uint64_t mixed(const uint64_t* input, uint32_t secret_word, uint64_t seed) {
    return folded_product(input[0] ^ (secret(secret_word) + seed), input[1] ^ (secret(secret_word + 1) - seed));
  }
  // From both ends towards the middle, 16 bytes each.
  static uint64_t of_more(const uint64_t* input, uint32_t words, uint64_t seed) noexcept {
    uint64_t sum = uint64_t{words} * 8 * kPrime1;
    for (uint32_t i = (words - 1) / 4 + 1; i-- > 0;) {
      sum += mixed(input + size_t{2} * i, 4 * i, seed);
      sum += mixed(input + words - size_t{2} * (i + 1), 4 * i + 2, seed);
    }
    return avalanche(sum);
  }
};

}  // namespace softspine::dataplane
