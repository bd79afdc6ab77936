// SPDX-License-Identifier: Apache-2.0
// Bob Jenkins's hash lookup3 (hashlittle) of keys that are a multiple of 8 bytes: three registers of 32 bits that take
// twelve bytes a round. The seed is his initval.
//
//   a = b = c = 0xdeadbeef + bytes + seed; for each twelve bytes but the last: a, b, c += four bytes each, mix
//   the last one to twelve: added likewise; finish; c is the hash
#pragma once

#include <bit>
#include <cstdint>

namespace softspine::dataplane {

class Jenkins {
 public:
  // `words` of eight bytes as memory has them.
  static uint32_t of(const uint64_t* words, uint32_t count, uint32_t seed) noexcept {
    Jenkins it(0xdeadbeef + 8 * count + seed);
    const auto half = [words](uint32_t i) { return static_cast<uint32_t>(words[i / 2] >> (i % 2 * 32)); };
    uint32_t at = 0;
    uint32_t left = 2 * count;
    for (; left > 3; left -= 3, at += 3) {
      it.add(half(at), half(at + 1), half(at + 2));
      it.mix();
    }
    it.add(half(at), left > 1 ? half(at + 1) : 0, left > 2 ? half(at + 2) : 0);
    it.finish();
    return it.c_;
  }

 private:
  explicit Jenkins(uint32_t start) : a_(start), b_(start), c_(start) {}

  void add(uint32_t a, uint32_t b, uint32_t c) {
    a_ += a;
    b_ += b;
    c_ += c;
  }
  // One of the six steps of a round: `by` is subtracted from `to`, its rotated bits are XORed into it, and the third
  // register is added to `by`.
  static void step(uint32_t& to, uint32_t& by, uint32_t third, int bits) {
    to = (to - by) ^ std::rotl(by, bits);
    by += third;
  }
  void mix() {
    step(a_, c_, b_, 4);
    step(b_, a_, c_, 6);
    step(c_, b_, a_, 8);
    step(a_, c_, b_, 16);
    step(b_, a_, c_, 19);
    step(c_, b_, a_, 4);
  }
  static void last_step(uint32_t& to, uint32_t by, int bits) { to = (to ^ by) - std::rotl(by, bits); }
  void finish() {
    last_step(c_, b_, 14);
    last_step(a_, c_, 11);
    last_step(b_, a_, 25);
    last_step(c_, b_, 16);
    last_step(a_, c_, 4);
    last_step(b_, a_, 14);
    last_step(c_, b_, 24);
  }

  uint32_t a_;
  uint32_t b_;
  uint32_t c_;
};

}  // namespace softspine::dataplane
