// SPDX-License-Identifier: Apache-2.0
// How Linux hashes a flow for its multipath routes: SipHash-2-4 of the flow's keys (linux_key.hpp), its lower 32 bits,
// 1 if they are 0. The secret of 128 bits is the sysctl fib_multipath_hash_seed four times. By policy 3 the result is
// hashed once more: jhash of that result and of 0, which stands for the inner packet's fields (none are chosen here).
// Sources: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), check values in tests/model/hashing;
// Linux, include/net/ip_fib.h, net/core/flow_dissector.c, include/linux/jhash.h. tests/wire compares with the kernel.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace softspine::dataplane {

class SipHash {
 public:
  // `words` of eight bytes as memory has them.
  static uint64_t of(const uint64_t* words, uint32_t count, uint64_t first_key, uint64_t second_key) noexcept {
    State v{first_key ^ 0x736f6d6570736575, second_key ^ 0x646f72616e646f6d, first_key ^ 0x6c7967656e657261,
            second_key ^ 0x7465646279746573};
    for (uint32_t i = 0; i < count; ++i) take(v, words[i]);
    take(v, uint64_t{count} * 8 << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 4; ++i) turn(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
  }

 private:
  using State = std::array<uint64_t, 4>;

  static void take(State& v, uint64_t word) noexcept {
    v[3] ^= word;
    turn(v);
    turn(v);
    v[0] ^= word;
  }
  static void turn(State& v) noexcept {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] = std::rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] = std::rotl(v[2], 32);
  }
};

// Jenkins's lookup3 of two words, as Linux initializes it.
constexpr uint32_t jhash_of_two(uint32_t first, uint32_t second) {
  uint32_t c = 0xdeadbeef + (2 << 2);
  uint32_t a = first + c;
  uint32_t b = second + c;
  c = (c ^ b) - std::rotl(b, 14);
  a = (a ^ c) - std::rotl(c, 11);
  b = (b ^ a) - std::rotl(a, 25);
  c = (c ^ b) - std::rotl(b, 16);
  a = (a ^ c) - std::rotl(c, 4);
  b = (b ^ a) - std::rotl(a, 14);
  return (c ^ b) - std::rotl(b, 24);
}

}  // namespace softspine::dataplane
