// SPDX-License-Identifier: Apache-2.0
// How Broadcom's RTAG7 hashes a key: Rtag7Function<A>::of(words, count), for each algorithm that the model has
// (hash_algorithm.hpp).
//
// A key is 28 bytes: seven words of 32 bits, each in little-endian byte order, of two bins of 16 bits each, the higher
// bin in the upper half. A bin that is not selected stays in its place as zeros.
//   word   0         1             2             3               4                 5            6
//   bins   1, 0      3, 2          5, 4          7, 6            9, 8              11, 10
//          user's    IN_PORT, 0    L4_DST_PORT,  VLAN_ID,        DST_IP            SRC_IP       the seed
//                                  IP_PROTOCOL   L4_SRC_PORT
// Bins 1 and 0 have the IPv6 flow label (its upper 4 bits, its lower 16). Where a chip puts destination QPs and UDFs is
// not published: here they stand in these two bins, as one number of 32 bits. IPv6 addresses are folded: exclusive or
// of their four words, or the last one.
//
// Every CRC begins at 0, and its bits are reversed at the end. Zeros before the key therefore change nothing, and
// since all the functions are linear, the seed adds a constant: seed_part(). The XOR is that of all bins. These facts
// are OpenBCM's (src/bcm/esw/tomahawk/hashing.c); no line of its code is here.
#pragma once

#include <cstdint>

#include "dataplane/hashing/crc.hpp"
#include "dataplane/hashing/hash_algorithm.hpp"
#include "dataplane/hashing/xor_fold.hpp"

namespace softspine::dataplane {

template <HashAlgorithm A>
struct Rtag7Function;

template <typename T, const CrcBy<T>& By>
struct Rtag7Crc {
  static uint32_t of(const uint64_t* words, uint32_t count) noexcept {
    return bits_reversed(crc_of_words(By, T{0}, words, count));
  }
};
struct Rtag7Castagnoli {
  static uint32_t of(const uint64_t* words, uint32_t count) noexcept {
    uint32_t crc = 0;
    for (uint32_t i = 0; i < count; ++i) crc = crc32c_of_word(crc, words[i]);
    return bits_reversed(crc);
  }
};
template <typename Crc32>
struct Rtag7Lower {
  static uint32_t of(const uint64_t* words, uint32_t count) noexcept { return Crc32::of(words, count) & 0xffff; }
};
template <typename Crc32>
struct Rtag7Upper {
  static uint32_t of(const uint64_t* words, uint32_t count) noexcept { return Crc32::of(words, count) >> 16; }
};
// The upper byte of the CRC; below it the XOR, folded into `Bits` bits.
template <uint32_t Bits>
struct Rtag7CrcXor {
  static uint32_t of(const uint64_t* words, uint32_t count) noexcept {
    uint32_t sum = folded(words, count);
    for (uint32_t bits = 8; bits >= Bits; bits /= 2) sum ^= sum >> bits;
    return (Rtag7Crc<uint16_t, kArc>::of(words, count) & 0xff00U) | (sum & ((1U << Bits) - 1));
  }
};

using Rtag7Ethernet = Rtag7Crc<uint32_t, kEthernet>;
using Rtag7Koopman = Rtag7Crc<uint32_t, kKoopman>;

template <>
struct Rtag7Function<HashAlgorithm::kCrc> : Rtag7Crc<uint16_t, kArc> {};
template <>
struct Rtag7Function<HashAlgorithm::kXor> {
  static uint32_t of(const uint64_t* words, uint32_t count) noexcept { return folded(words, count); }
};
// No key is hashed: the caller draws a number instead.
template <>
struct Rtag7Function<HashAlgorithm::kRandom> {
  static uint32_t of(const uint64_t*, uint32_t) noexcept { return 0; }
};
template <>
struct Rtag7Function<HashAlgorithm::kCrc32Lo> : Rtag7Lower<Rtag7Castagnoli> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrc32Hi> : Rtag7Upper<Rtag7Castagnoli> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcCcitt> : Rtag7Crc<uint16_t, kKermit> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcXor> : Rtag7CrcXor<8> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcXor4> : Rtag7CrcXor<4> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcXor2> : Rtag7CrcXor<2> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcXor1> : Rtag7CrcXor<1> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcEthernetLo> : Rtag7Lower<Rtag7Ethernet> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcEthernetHi> : Rtag7Upper<Rtag7Ethernet> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcKoopmanLo> : Rtag7Lower<Rtag7Koopman> {};
template <>
struct Rtag7Function<HashAlgorithm::kCrcKoopmanHi> : Rtag7Upper<Rtag7Koopman> {};

// The term that the seed adds to the hash of any key.
template <HashAlgorithm A>
uint32_t seed_part(uint32_t seed) noexcept {
  const uint64_t last = uint64_t{seed} << 32;
  return Rtag7Function<A>::of(&last, 1);
}

}  // namespace softspine::dataplane
