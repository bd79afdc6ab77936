// SPDX-License-Identifier: Apache-2.0
// Every algorithm of the hash laboratory once more, by other people's code (Boost.CRC, libxxhash) or one bit at a
// time, over plain bytes: slow, obvious, and without a line of what it judges.
#pragma once

#include <xxhash.h>

#include <boost/crc.hpp>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dataplane/hashing/hash_config.hpp"
#include "tests/model/hashing/slow_rtag7.hpp"

namespace softspine::tests {

template <typename T>
T slow_reversed(T value) {
  T out = 0;
  for (size_t bit = 0; bit < sizeof(T) * 8; ++bit) {
    if ((value >> bit & 1) != 0) out = static_cast<T>(out | T{1} << (sizeof(T) * 8 - 1 - bit));
  }
  return out;
}

// A CRC whose register holds `start` at first. Boost keeps its register the other way round.
template <size_t Bits, typename T>
T slow_crc(T polynomial, T start, const SlowBytes& bytes) {
  boost::crc_basic<Bits> crc{polynomial, slow_reversed(start), 0, true, true};
  crc.process_bytes(bytes.data(), bytes.size());
  return static_cast<T>(crc.checksum());
}
inline uint16_t slow_arc(uint16_t start, const SlowBytes& bytes) {
  return slow_crc<16, uint16_t>(0x8005, start, bytes);
}
inline uint16_t slow_kermit(uint16_t start, const SlowBytes& bytes) {
  return slow_crc<16, uint16_t>(0x1021, start, bytes);
}
inline uint32_t slow_castagnoli(uint32_t start, const SlowBytes& bytes) {
  return slow_crc<32, uint32_t>(0x1EDC6F41, start, bytes);
}

inline uint16_t slow_xor16(const SlowBytes& bytes) {
  unsigned even = 0;
  unsigned odd = 0;
  for (size_t i = 0; i < bytes.size(); ++i) (i % 2 == 0 ? even : odd) ^= bytes[i];
  return static_cast<uint16_t>(even << 8 | odd);
}

// The window over the key moves on by a bit for each bit of the input.
inline uint32_t slow_toeplitz(const SlowBytes& key, const SlowBytes& bytes) {
  const auto key_bit = [&key](size_t i) { return unsigned{key[i / 8 % key.size()]} >> (7 - i % 8) & 1; };
  uint32_t window = 0;
  for (size_t i = 0; i < 32; ++i) window = window << 1 | key_bit(i);
  uint32_t hash = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    if ((bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) hash ^= window;
    window = window << 1 | key_bit(bit + 32);
  }
  return hash;
}

// Bob Jenkins's lookup3 as he describes it, over bytes: any number of them.
inline uint32_t slow_jenkins(SlowBytes bytes, uint32_t initval) {
  const auto turned = [](uint32_t x, unsigned bits) { return x << bits | x >> (32 - bits); };
  uint32_t r[3];
  r[0] = r[1] = r[2] = 0xdeadbeef + static_cast<uint32_t>(bytes.size()) + initval;
  const auto take = [&](size_t from, size_t count) {
    for (size_t i = 0; i < count; ++i) r[i / 4] += uint32_t{bytes[from + i]} << (8 * (i % 4));
  };
  size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    take(at, 12);
    constexpr unsigned kTurns[] = {4, 6, 8, 16, 19, 4};
    for (size_t i = 0; i < 6; ++i) {
      uint32_t& to = r[i % 3];
      uint32_t& by = r[(i + 2) % 3];
      to -= by;
      to ^= turned(by, kTurns[i]);
      by += r[(i + 1) % 3];
    }
  }
  if (bytes.empty()) return r[2];
  take(at, bytes.size() - at);
  constexpr unsigned kLast[] = {14, 11, 25, 16, 4, 14, 24};
  for (size_t i = 0; i < 7; ++i) {
    uint32_t& to = r[(i + 2) % 3];
    const uint32_t by = r[(i + 1) % 3];
    to ^= by;
    to -= turned(by, kLast[i]);
  }
  return r[2];
}

// SipHash as its authors describe it, over bytes: two rounds for each eight of them, four at the end.
inline uint64_t slow_siphash(uint64_t first, uint64_t second, SlowBytes bytes) {
  const auto turned = [](uint64_t x, unsigned bits) { return x << bits | x >> (64 - bits); };
  uint64_t a = first ^ 0x736f6d6570736575;
  uint64_t b = second ^ 0x646f72616e646f6d;
  uint64_t c = first ^ 0x6c7967656e657261;
  uint64_t d = second ^ 0x7465646279746573;
  const auto round = [&] {
    a += b;
    b = turned(b, 13) ^ a;
    a = turned(a, 32);
    c += d;
    d = turned(d, 16) ^ c;
    a += d;
    d = turned(d, 21) ^ a;
    c += b;
    b = turned(b, 17) ^ c;
    c = turned(c, 32);
  };
  const auto length = static_cast<uint8_t>(bytes.size());
  while (bytes.size() % 8 != 7) bytes.push_back(0);
  bytes.push_back(length);
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    for (size_t i = 0; i < 8; ++i) word |= uint64_t{bytes[at + i]} << (8 * i);
    d ^= word;
    round();
    round();
    a ^= word;
  }
  c ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return a ^ b ^ c ^ d;
}

// Linux's hash of its flow keys; by policy 3 jhash of it and a 0, which is Jenkins's lookup3 of eight bytes.
inline uint32_t slow_linux(const SlowBytes& key, uint32_t seed, bool twice) {
  const uint64_t half = uint64_t{seed} * 0x100000001;
  auto hash = static_cast<uint32_t>(slow_siphash(half, half, key));
  if (hash == 0) hash = 1;
  if (!twice) return hash;
  SlowBytes both(8);
  for (size_t i = 0; i < 4; ++i) both[i] = static_cast<uint8_t>(hash >> (8 * i));
  return slow_jenkins(both, 0);
}

// Open vSwitch's steps, a number at a time: MurmurHash3's as its author wrote them, or a CRC-32C bit by bit.
struct SlowOvs {
  bool with_crc = false;

  static uint32_t turned(uint32_t x, unsigned bits) { return x << bits | x >> (32 - bits); }
  static SlowBytes little(uint64_t number, size_t bytes) {
    SlowBytes out(bytes);
    for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<uint8_t>(number >> (8 * i));
    return out;
  }
  uint32_t add(uint32_t hash, uint32_t word) const {
    if (with_crc) return slow_castagnoli(hash, little(word, 4));
    uint32_t k = word * 3432918353U;
    k = turned(k, 15) * 461845907U;
    return turned(word == 0 ? hash : hash ^ k, 13) * 5 + 3864292196U;
  }
  uint32_t finish(uint32_t hash, uint32_t last) const {
    if (with_crc) {
      const auto product = static_cast<uint32_t>(uint64_t{slow_castagnoli(hash, little(last, 8))} * 2152858867U);
      return product ^ product / 65536;
    }
    hash ^= last;
    hash = (hash ^ hash / 65536) * 2246822507U;
    hash = (hash ^ hash / 8192) * 3266489909U;
    return hash ^ hash / 65536;
  }
};

// The key: two addresses, the protocol's byte, two unused ones, whether ports follow, the ports.
inline uint32_t slow_ovs(const SlowOvs& it, bool is_symmetric, const SlowBytes& key, uint32_t basis) {
  const size_t address = (key.size() - 8) / 2;
  const auto at = [&](size_t from) {
    return key[from] | uint32_t{key[from + 1]} << 8 | uint32_t{key[from + 2]} << 16 | uint32_t{key[from + 3]} << 24;
  };
  const SlowBytes rest(key.end() - 8, key.end());
  uint32_t hash = is_symmetric ? basis : 0;
  for (size_t i = 0; i < (is_symmetric ? address : 2 * address); i += 4)
    hash = it.add(hash, is_symmetric ? at(i) ^ at(address + i) : at(i));
  hash = it.add(hash, rest[0]);
  const auto low_bytes = static_cast<uint32_t>((rest[4] ^ rest[6]) | (rest[5] ^ rest[7]) << 8);
  if (rest[3] != 0) hash = it.add(hash, is_symmetric ? low_bytes : at(key.size() - 4));
  if (is_symmetric) return it.finish(hash, basis);
  hash = it.finish(hash, 42);
  return it.with_crc ? it.finish(it.add(it.add(0, hash), basis), 23) : it.finish(it.add(it.add(hash, 0), basis), 8);
}

// Before the rotation. The key has a multiple of 8 bytes.
inline uint32_t slow_raw(const dataplane::HashConfig& config, const SlowBytes& key) {
  using enum dataplane::HashAlgorithm;
  const uint32_t seed = config.seed;
  const auto half_seed = static_cast<uint16_t>(seed >> 16 ^ (seed & 0xffff));
  if (config.model == dataplane::HashModel::kRtag7) {
    return slow_rtag7_function(config.algorithm, with_slow_seed(key, seed));
  }
  switch (config.algorithm) {
    case kCrc: return slow_castagnoli(seed, key);
    case kXor: return slow_xor16(key) ^ half_seed;
    case kCrc32Lo: return slow_castagnoli(seed, key) & 0xffff;
    case kCrc32Hi: return slow_castagnoli(seed, key) >> 16;
    case kCrcCcitt: return slow_kermit(half_seed, key);
    case kCrcXor: {
      const unsigned sum = slow_xor16(key) ^ unsigned { half_seed };
      return (slow_arc(half_seed, key) & 0xff00u) | ((sum >> 8 ^ sum) & 0xffu);
    }
    case kToeplitz: return slow_toeplitz(config.key, key) ^ seed;
    case kXxh3: return static_cast<uint32_t>(XXH3_64bits_withSeed(key.data(), key.size(), seed));
    case kCrcEthernetLo: return slow_crc<32, uint32_t>(0x04C11DB7, seed, key) & 0xffff;
    case kCrcEthernetHi: return slow_crc<32, uint32_t>(0x04C11DB7, seed, key) >> 16;
    case kSiphash: return slow_linux(key, seed, config.linux_policy == 3);
    case kJenkinsLo: return slow_jenkins(key, seed) & 0xffff;
    case kJenkinsHi: return slow_jenkins(key, seed) >> 16;
    case kOvsSymL4: return slow_ovs({false}, true, key, seed);
    case kOvsL4: return slow_ovs({false}, false, key, seed);
    case kOvsSymL4Crc32c: return slow_ovs({true}, true, key, seed);
    case kOvsL4Crc32c: return slow_ovs({true}, false, key, seed);
    default: throw std::logic_error("this algorithm has no twin");
  }
}

// The bits of a result; 0: the model does not have the algorithm.
inline unsigned slow_bits(dataplane::HashModel model, dataplane::HashAlgorithm algorithm) {
  using enum dataplane::HashAlgorithm;
  const bool is_sai = model == dataplane::HashModel::kSai;
  const bool is_linux = model == dataplane::HashModel::kLinux;
  const bool is_ovs = model == dataplane::HashModel::kOvs;
  if (is_ovs) return algorithm >= kOvsSymL4 ? 32 : 0;
  switch (algorithm) {
    case kCrc: return is_linux ? 0 : is_sai ? 32 : 16;
    case kXor:
    case kCrc32Lo:
    case kCrc32Hi:
    case kCrcCcitt:
    case kCrcXor:
    case kCrcEthernetLo:
    case kCrcEthernetHi: return is_linux ? 0 : 16;
    case kRoundRobin: return is_sai ? 32 : 0;
    case kSiphash: return is_linux ? 32 : 0;
    case kOvsSymL4:
    case kOvsL4:
    case kOvsSymL4Crc32c:
    case kOvsL4Crc32c: return 0;
    case kRandom: return is_linux ? 0 : 32;
    case kToeplitz:
    case kXxh3: return is_sai ? 32 : 0;
    case kJenkinsLo:
    case kJenkinsHi: return is_sai ? 16 : 0;
    case kCrcXor4:
    case kCrcXor2:
    case kCrcXor1:
    case kCrcKoopmanLo:
    case kCrcKoopmanHi: return model == dataplane::HashModel::kRtag7 ? 16 : 0;
  }
  throw std::logic_error("this algorithm has no twin");
}

// Those of them that some key sets.
inline uint32_t slow_mask(dataplane::HashModel model, dataplane::HashAlgorithm algorithm) {
  using enum dataplane::HashAlgorithm;
  if (algorithm == kCrcXor4) return 0xff0f;
  if (algorithm == kCrcXor2) return 0xff03;
  if (algorithm == kCrcXor1) return 0xff01;
  return static_cast<uint32_t>((uint64_t{1} << slow_bits(model, algorithm)) - 1);
}

inline uint32_t slow_hash(const dataplane::HashConfig& config, const SlowBytes& key) {
  uint64_t hash = slow_raw(config, key);
  const unsigned width = slow_bits(config.model, config.algorithm);
  for (unsigned i = 0; i < config.offset; ++i) hash = hash >> 1 | (hash & 1) << (width - 1);
  return static_cast<uint32_t>(hash);
}

}  // namespace softspine::tests
