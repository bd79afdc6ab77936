// SPDX-License-Identifier: Apache-2.0
// The contents of a part of a message, by which its receiver distinguishes a right byte from a wrong, a stale or a
// foreign one: word w is key + w × 0x9E3779B97F4A7C15 in the machine's order, the last one cut; the key differs by run,
// message and queue pair. One multiplication and addition a word: faster than memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace softspine::tools {

// MurmurHash3's finaliser (Appleby, public domain): each bit of its argument changes half of its result's.
constexpr uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
  return value ^ value >> 33;
}

constexpr uint64_t pattern_key(uint64_t seed, uint64_t message, uint32_t queue_pair) {
  return mixed(mixed(mixed(seed) + message) + queue_pair);
}

constexpr uint64_t pattern_word(uint64_t key, uint64_t index) {
  return key + index * 0x9E3779B97F4A7C15;
}

inline void fill_pattern(std::span<uint8_t> bytes, uint64_t key) {
  const size_t words = bytes.size() / 8;
  for (size_t w = 0; w < words; ++w) {
    const uint64_t word = pattern_word(key, w);
    std::memcpy(bytes.data() + 8 * w, &word, 8);
  }
  if (bytes.size() % 8 == 0) return;  // and perhaps there is nothing at all to write to
  const uint64_t last = pattern_word(key, words);
  std::memcpy(bytes.data() + 8 * words, &last, bytes.size() % 8);
}

// How many bytes are not as fill_pattern() would have left them.
inline uint64_t wrong_bytes(std::span<const uint8_t> bytes, uint64_t key) {
  uint64_t wrong = 0;
  for (size_t begin = 0; begin < bytes.size(); begin += 8) {
    const size_t length = bytes.size() - begin < 8 ? bytes.size() - begin : 8;
    uint64_t found = 0;
    uint64_t expected = 0;
    const uint64_t word = pattern_word(key, begin / 8);
    std::memcpy(&found, bytes.data() + begin, length);
    std::memcpy(&expected, &word, length);
    if (found == expected) continue;
    for (uint64_t different = found ^ expected; different != 0; different >>= 8) wrong += (different & 0xff) != 0;
  }
  return wrong;
}

}  // namespace softspine::tools
