// SPDX-License-Identifier: Apache-2.0
// The function of each algorithm of hash_algorithm.hpp, as a specialization of HashFunction:
//
//   set_up(config, key_bytes)      what the function needs of the configuration for each packet; keys have at most
//                                  `key_bytes` bytes
//   of(setup, words, count)        the hash of a key of `count` words (hash_key.hpp), before it is rotated
//
// An algorithm without a specialization does not compile (EcmpHash asks for all).
//
// SAI does not define where the seed goes. Here it is the start value of a CRC's register (of 16 bits: the exclusive or
// of the seed's halves) and of the XOR, XXH3's seed and Jenkins's initval; to a Toeplitz hash it is added (exclusive
// or). No CRC is inverted at its end. RTAG7's functions are in rtag7_function.hpp. Headers of models that have keys of
// their own (own_key.hpp) are included here, whoever uses hashes has all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dataplane/hashing/crc.hpp"
#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/jenkins.hpp"
#include "dataplane/hashing/linux_key.hpp"
#include "dataplane/hashing/ovs_hash.hpp"
#include "dataplane/hashing/ovs_key.hpp"
#include "dataplane/hashing/siphash.hpp"
#include "dataplane/hashing/toeplitz.hpp"
#include "dataplane/hashing/xor_fold.hpp"
#include "dataplane/hashing/xxh3.hpp"

namespace softspine::dataplane {

struct HashSetup {
  uint32_t start = 0;
  bool hash_twice = false;  // Linux: policy 3
  std::shared_ptr<const ToeplitzTables> toeplitz;
};

template <HashAlgorithm A>
struct HashFunction;

// Both halves of a seed in 16 bits.
constexpr uint16_t halves_of(uint32_t seed) {
  return static_cast<uint16_t>(seed ^ seed >> 16);
}

// CRC-32C, all of its 32 bits.
struct Crc32cFunction {
  static HashSetup set_up(const HashConfig& config, uint32_t) { return {.start = config.seed, .toeplitz = {}}; }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    uint32_t crc = setup.start;
    for (uint32_t i = 0; i < count; ++i) crc = crc32c_of_word(crc, words[i]);
    return crc;
  }
};

template <const CrcBy<uint16_t>& By>
struct Crc16Function {
  static HashSetup set_up(const HashConfig& config, uint32_t) {
    return {.start = halves_of(config.seed), .toeplitz = {}};
  }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return crc_of_words(By, static_cast<uint16_t>(setup.start), words, count);
  }
};
using Arc = Crc16Function<kArc>;
using Kermit = Crc16Function<kKermit>;

template <>
struct HashFunction<HashAlgorithm::kCrc> : Crc32cFunction {};

template <>
struct HashFunction<HashAlgorithm::kXor> {
  static HashSetup set_up(const HashConfig& config, uint32_t) {
    return {.start = halves_of(config.seed), .toeplitz = {}};
  }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return setup.start ^ __builtin_bswap16(static_cast<uint16_t>(folded(words, count)));
  }
};

// No key is hashed: the caller draws a number instead.
template <>
struct HashFunction<HashAlgorithm::kRandom> {
  static HashSetup set_up(const HashConfig&, uint32_t) { return {}; }
  static uint32_t of(const HashSetup&, const uint64_t*, uint32_t) noexcept { return 0; }
};

template <>
struct HashFunction<HashAlgorithm::kRoundRobin> : HashFunction<HashAlgorithm::kRandom> {};

template <>
struct HashFunction<HashAlgorithm::kCrc32Lo> : Crc32cFunction {
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return Crc32cFunction::of(setup, words, count) & 0xffff;
  }
};
template <>
struct HashFunction<HashAlgorithm::kCrc32Hi> : Crc32cFunction {
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return Crc32cFunction::of(setup, words, count) >> 16;
  }
};

struct EthernetCrcFunction {
  static HashSetup set_up(const HashConfig& config, uint32_t) { return {.start = config.seed, .toeplitz = {}}; }
};
template <>
struct HashFunction<HashAlgorithm::kCrcEthernetLo> : EthernetCrcFunction {
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return crc_of_words(kEthernet, setup.start, words, count) & 0xffff;
  }
};
template <>
struct HashFunction<HashAlgorithm::kCrcEthernetHi> : EthernetCrcFunction {
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return crc_of_words(kEthernet, setup.start, words, count) >> 16;
  }
};

template <>
struct HashFunction<HashAlgorithm::kCrcCcitt> : Kermit {};

// The start of the CRC lies in the lower half of `start`, that of the XOR in the upper one.
template <>
struct HashFunction<HashAlgorithm::kCrcXor> {
  static HashSetup set_up(const HashConfig& config, uint32_t key_bytes) {
    HashSetup out = Arc::set_up(config, key_bytes);
    out.start |= uint32_t{halves_of(config.seed)} << 16;
    return out;
  }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    const uint32_t sum = folded(words, count) ^ setup.start >> 16;
    return (Arc::of(setup, words, count) & 0xff00U) | ((sum ^ sum >> 8) & 0xff);
  }
};

template <>
struct HashFunction<HashAlgorithm::kToeplitz> {
  static HashSetup set_up(const HashConfig& config, uint32_t key_bytes) {
    const std::span<const uint8_t> key = config.key.empty() ? std::span<const uint8_t>(kMicrosoftRssKey) : config.key;
    return {.start = config.seed, .toeplitz = std::make_shared<const ToeplitzTables>(key, key_bytes)};
  }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    uint32_t hash = setup.start;
    for (uint32_t i = 0; i < count; ++i) hash ^= setup.toeplitz->of_word(i, words[i]);
    return hash;
  }
};

template <>
struct HashFunction<HashAlgorithm::kXxh3> {
  static HashSetup set_up(const HashConfig& config, uint32_t) { return {.start = config.seed, .toeplitz = {}}; }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return static_cast<uint32_t>(Xxh3::of(words, count, setup.start));
  }
};

template <>
struct HashFunction<HashAlgorithm::kSiphash> {
  static HashSetup set_up(const HashConfig& config, uint32_t) {
    return {.start = config.seed, .hash_twice = config.linux_policy == 3, .toeplitz = {}};
  }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    const uint64_t half = uint64_t{setup.start} << 32 | setup.start;
    const auto hash = static_cast<uint32_t>(SipHash::of(words, count, half, half));
    const uint32_t never_zero = hash == 0 ? 1 : hash;
    return setup.hash_twice ? jhash_of_two(never_zero, 0) : never_zero;
  }
};

template <typename Mix, bool IsSymmetric>
struct OvsFunction {
  static HashSetup set_up(const HashConfig& config, uint32_t) { return {.start = config.seed, .toeplitz = {}}; }
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return ovs_hash<Mix, IsSymmetric>(words, count, setup.start);
  }
};
template <>
struct HashFunction<HashAlgorithm::kOvsSymL4> : OvsFunction<OvsMurmur, true> {};
template <>
struct HashFunction<HashAlgorithm::kOvsL4> : OvsFunction<OvsMurmur, false> {};
template <>
struct HashFunction<HashAlgorithm::kOvsSymL4Crc32c> : OvsFunction<OvsCrc32c, true> {};
template <>
struct HashFunction<HashAlgorithm::kOvsL4Crc32c> : OvsFunction<OvsCrc32c, false> {};

struct JenkinsFunction {
  static HashSetup set_up(const HashConfig& config, uint32_t) { return {.start = config.seed, .toeplitz = {}}; }
};
template <>
struct HashFunction<HashAlgorithm::kJenkinsLo> : JenkinsFunction {
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return Jenkins::of(words, count, setup.start) & 0xffff;
  }
};
template <>
struct HashFunction<HashAlgorithm::kJenkinsHi> : JenkinsFunction {
  static uint32_t of(const HashSetup& setup, const uint64_t* words, uint32_t count) noexcept {
    return Jenkins::of(words, count, setup.start) >> 16;
  }
};

}  // namespace softspine::dataplane
