// SPDX-License-Identifier: Apache-2.0
// The ECMP hash: key bytes → algorithm(seed) → rotate right by offset → bucket (modulo members).
//
// Key, in this order: source IP, destination IP, source port, destination port, IP protocol, and, if
// asked for, the RoCEv2 destination QP (3 bytes, RoCEv2 only). IPv4 addresses take 4 bytes, IPv6 16.
// A packet without layer 4 (a fragment, another protocol) has zeros for its ports.
//
// The algorithm is CRC-32C (Castagnoli, reflected) without final inversion; the seed is its start
// value. Its sources and the other algorithms of SAI: the hash laboratory's business; they fit behind
// `EcmpHash::of`.
// Default: seed 0, offset 0, for every switch alike, as an unconfigured fleet hashes.
#pragma once

#include <x86intrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace softspine::dataplane {

struct EcmpHashConfig {
  uint32_t seed = 0;
  uint8_t offset = 0;  // bits, 0 … 31
  bool destination_qp = false;
};

// The fields of one packet. Unused bytes are zero.
struct alignas(8) FlowKey {
  uint8_t bytes[48];
  uint32_t length;  // a multiple of 8
};

class EcmpHash {
 public:
  EcmpHash() = default;
  explicit EcmpHash(const EcmpHashConfig& config) : config_(config) {}

  uint32_t of(const FlowKey& key) const noexcept {
    uint64_t crc = config_.seed;
    for (uint32_t i = 0; i < key.length; i += 8) {
      uint64_t word;
      std::memcpy(&word, key.bytes + i, 8);
      crc = _mm_crc32_u64(crc, word);
    }
    return std::rotr(static_cast<uint32_t>(crc), config_.offset);
  }
  // For the usual key (IPv4): addresses as the packet has them, ports and protocol in one word.
  uint32_t of_words(uint64_t addresses, uint64_t rest) const noexcept {
    const uint64_t crc = _mm_crc32_u64(_mm_crc32_u64(config_.seed, addresses), rest);
    return std::rotr(static_cast<uint32_t>(crc), config_.offset);
  }
  const EcmpHashConfig& config() const { return config_; }

 private:
  EcmpHashConfig config_;
};

}  // namespace softspine::dataplane
