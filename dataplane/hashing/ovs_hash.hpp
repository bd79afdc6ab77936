// SPDX-License-Identifier: Apache-2.0
// Open vSwitch's hash of a flow (ovs_key.hpp), over 32-bit words as a little-endian machine has them in memory:
//
//   L4      finish(add(add(finish(flow from 0, 42), 0), basis), of two words): what OVS keeps of a packet as if it were
//           its NIC's hash, and then the group's basis
//   SYM_L4  finish(flow from the basis, basis)
//
// `seed` is the basis: the lower half of selection_method_param. The definitions of add() and finish() depend on how
// OVS was compiled: MurmurHash3's steps, or CRC-32C instructions where the compiler may use SSE 4.2 (-msse4.2,
// -march=native). Source: lib/hash.h, lib/flow.c, lib/odp-execute.c and lib/dpif-netdev.c of OVS 3.1.
#pragma once

#include <x86intrin.h>

#include <bit>
#include <cstdint>

namespace softspine::dataplane {

// MurmurHash3 of 32 bits (Appleby), but a word of zeros is not mixed in.
struct OvsMurmur {
  static constexpr uint32_t add(uint32_t hash, uint32_t word) {
    if (word != 0) hash ^= std::rotl(word * 0xcc9e2d51, 15) * 0x1b873593;
    return std::rotl(hash, 13) * 5 + 0xe6546b64;
  }
  static constexpr uint32_t finish(uint32_t hash, uint32_t last) {
    hash ^= last;
    hash = (hash ^ hash >> 16) * 0x85ebca6b;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35;
    return hash ^ hash >> 16;
  }
  static constexpr uint32_t kTwoWords = 8;  // what is finished with
  static uint32_t of_two(uint32_t first, uint32_t second) { return finish(add(add(first, 0), second), kTwoWords); }
};

struct OvsCrc32c {
  static uint32_t add(uint32_t hash, uint32_t word) { return _mm_crc32_u32(hash, word); }
  static uint32_t finish(uint32_t hash, uint32_t last) {
    const uint32_t product = static_cast<uint32_t>(_mm_crc32_u64(hash, last)) * 0x805204f3;
    return product ^ product >> 16;
  }
  static constexpr uint32_t kTwoWords = 23;
  static uint32_t of_two(uint32_t first, uint32_t second) { return finish(add(add(0, first), second), kTwoWords); }
};

// `words` of eight bytes: the key, whose last eight are protocol and ports, and the rest two addresses.
template <typename Mix, bool IsSymmetric>
uint32_t ovs_hash(const uint64_t* words, uint32_t count, uint32_t basis) {
  constexpr uint32_t kFlow = 42;  // what OVS finishes a flow's hash with
  const auto word = [words](uint32_t i) { return static_cast<uint32_t>(words[i / 2] >> (i % 2 * 32)); };
  const uint32_t of_an_address = count - 1;  // words of 32 bits
  const uint32_t protocol = word(2 * of_an_address);
  const uint32_t ports = word(2 * of_an_address + 1);
  uint32_t hash = IsSymmetric ? basis : 0;
  if constexpr (IsSymmetric) {
    for (uint32_t i = 0; i < of_an_address; ++i) hash = Mix::add(hash, word(i) ^ word(of_an_address + i));
  } else {
    for (uint32_t i = 0; i < 2 * of_an_address; ++i) hash = Mix::add(hash, word(i));
  }
  hash = Mix::add(hash, protocol & 0xff);
  if (protocol >> 24 != 0) hash = Mix::add(hash, IsSymmetric ? (ports ^ ports >> 16) & 0xffff : ports);
  return IsSymmetric ? Mix::finish(hash, basis) : Mix::of_two(Mix::finish(hash, kFlow), basis);
}

}  // namespace softspine::dataplane
