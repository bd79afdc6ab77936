// SPDX-License-Identifier: Apache-2.0
// Reflected throughout: the lowest bit of the first byte is the highest power of x. A 64-bit lane `v`
// stands for Σ bit j · x^(63−j), a 32-bit factor `f` for Σ bit l · x^(31−l); the carry-less product of
// `v` and `f << 1` has bit t for x^(95−t).
#include "dataplane/packet/icrc.hpp"

#include <array>

namespace softspine::dataplane {

namespace {

constexpr uint32_t kReflectedP = 0xedb88320;
constexpr uint32_t kBlock = 16;
constexpr uint32_t kMaskedBlocks = 4;  // 64 bytes hold every masked field
constexpr int kLeast = -15;            // a last block filled up with zeros counts them back
constexpr uint32_t kTailFactors = 8 + roce_header_bytes(IpVersion::k6) + 32;

constexpr uint32_t times_x(uint32_t f) {
  return (f >> 1) ^ ((f & 1) != 0 ? kReflectedP : 0);
}
constexpr uint32_t over_x(uint32_t f) {
  return (f & 0x80000000) != 0 ? (f ^ kReflectedP) << 1 | 1 : f << 1;
}

constexpr uint32_t power_of_x(uint32_t n) {
  uint32_t f = 0x80000000;
  while (n-- > 0) f = times_x(f);
  return f;
}

// x^(32 + 8m) for m = −15 …: what a message times it leaves modulo P is the CRC of the message and m zero bytes.
class ZeroFactors {
 public:
  constexpr ZeroFactors() {
    uint32_t f = kReflectedP;  // x^32
    for (int bit = 0; bit < 8 * -kLeast; ++bit) f = over_x(f);
    for (uint32_t& factor : factors_) {
      factor = f;
      for (int bit = 0; bit < 8; ++bit) f = times_x(f);
    }
  }
  constexpr uint32_t operator()(int m) const { return factors_[static_cast<size_t>(m - kLeast)]; }

 private:
  std::array<uint32_t, kMaxIcrcZeros + kTailFactors - kLeast> factors_{};
};
constexpr ZeroFactors kZeroFactors;

// P as a polynomial in y with 1 as its lowest term has an inverse modulo y^64: Newton, v ← P · v².
constexpr uint64_t product_low(uint64_t a, uint64_t b) {
  uint64_t r = 0;
  for (int i = 0; i < 64; ++i) r ^= (b >> i & 1) != 0 ? a << i : 0;
  return r;
}
constexpr uint64_t kP = uint64_t{kReflectedP} << 1 | 1;
constexpr uint64_t inverse_of_p() {
  uint64_t v = 1;
  for (int i = 0; i < 6; ++i) v = product_low(kP, product_low(v, v));
  return v;
}
static_assert(product_low(kP, inverse_of_p()) == 1);

constexpr uint32_t state_after_leading_ones() {
  uint32_t state = 0xffffffff;
  for (int bit = 0; bit < 64; ++bit) state = times_x(state ^ 1);
  return state;
}

struct alignas(16) Masks {
  std::array<uint8_t, size_t{kBlock} * kMaskedBlocks> ones{};
};
constexpr Masks masks_of(IpVersion version) {
  Masks m;
  if (version == IpVersion::k4) {
    m.ones[ipv4::kTos] = m.ones[ipv4::kTtl] = m.ones[ipv4::kChecksum] = m.ones[ipv4::kChecksum + 1] = 0xff;
  } else {
    m.ones[0] = 0x0f;
    m.ones[1] = m.ones[2] = m.ones[3] = m.ones[ipv6::kHopLimit] = 0xff;
  }
  const uint32_t l4 = version == IpVersion::k4 ? ipv4::kMinBytes : ipv6::kBytes;
  m.ones[l4 + udp::kChecksum] = m.ones[l4 + udp::kChecksum + 1] = 0xff;
  m.ones[l4 + udp::kBytes + bth::kCongestion] = 0xff;
  return m;
}
constexpr std::array<Masks, 2> kMasks{masks_of(IpVersion::k4), masks_of(IpVersion::k6)};

__m128i pair_of(uint64_t low, uint64_t high) {
  return _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low));
}
__m128i load_block(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

// The factors that move a block `bits` further to the front: its low lane stands 64 bits before its high one.
template <uint32_t bits>
__m128i fold_factors() {
  constexpr uint64_t kLow = uint64_t{power_of_x(bits + 64 - 32)} << 1;
  constexpr uint64_t kHigh = uint64_t{power_of_x(bits - 32)} << 1;
  return pair_of(kLow, kHigh);
}
__m128i fold(__m128i block, __m128i factors) {
  return _mm_xor_si128(_mm_clmulepi64_si128(block, factors, 0x00), _mm_clmulepi64_si128(block, factors, 0x11));
}

// The last 1 … 15 bytes, in front of zeros; reads only bytes of the message, which has 16 or more.
__m128i last_bytes(const uint8_t* end, uint32_t count) {
  alignas(16) static constexpr std::array<uint8_t, 32> kSlide{
      0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
      0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
  return _mm_shuffle_epi8(load_block(end - kBlock), load_block(kSlide.data() + kBlock - count));
}

// Four blocks side by side hide the multiplier's latency; `state` stands before `p`.
__m128i fold_long(__m128i state, const uint8_t*& p, const uint8_t* end) {
  const __m128i one = fold_factors<128>();
  const __m128i four = fold_factors<512>();
  __m128i lanes[4]{state, load_block(p), load_block(p + 16), load_block(p + 32)};
  for (p += 48; end - p >= 64; p += 64) {
    for (uint32_t i = 0; i < 4; ++i) lanes[i] = _mm_xor_si128(fold(lanes[i], four), load_block(p + size_t{kBlock} * i));
  }
  for (uint32_t i = 1; i < 4; ++i) lanes[i] = _mm_xor_si128(fold(lanes[i - 1], one), lanes[i]);
  return lanes[3];
}

// fold_long() for processors that multiply 64 bytes at once: payload costs a quarter of the instructions.
[[gnu::target("avx512f,vpclmulqdq")]] inline __m512i load_wide(const uint8_t* p) {
  return _mm512_loadu_si512(p);
}
[[gnu::target("avx512f,vpclmulqdq")]] inline __m512i broadcast(__m128i block) {
  return _mm512_maskz_broadcast_i32x4(0xffff, block);
}
// Its blocks moved to the front, and `next` added.
[[gnu::target("avx512f,vpclmulqdq")]] inline __m512i fold_wide(__m512i blocks, __m512i factors, __m512i next) {
  constexpr int kAllOdd = 0x96;  // a ^ b ^ c
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(blocks, factors, 0x00),
                                   _mm512_clmulepi64_epi128(blocks, factors, 0x11), next, kAllOdd);
}

[[gnu::target("avx512f,vpclmulqdq")]] __m128i fold_wide_long(__m128i state, const uint8_t*& p, const uint8_t* end) {
  const __m128i one = fold_factors<128>();
  const __m512i four = broadcast(fold_factors<512>());
  const __m512i sixteen = broadcast(fold_factors<2048>());
  // `state` stands before `p`, in the place of the first block.
  __m512i lanes[4]{_mm512_mask_blend_epi64(3, load_wide(p - kBlock), _mm512_castsi128_si512(state)), load_wide(p + 48),
                   load_wide(p + 112), load_wide(p + 176)};
  for (p += 240; end - p >= 256; p += 256) {
    for (uint32_t i = 0; i < 4; ++i) lanes[i] = fold_wide(lanes[i], sixteen, load_wide(p + size_t{64} * i));
  }
  __m512i all = lanes[0];
  for (uint32_t i = 1; i < 4; ++i) all = fold_wide(all, four, lanes[i]);
  for (; end - p >= 64; p += 64) all = fold_wide(all, four, load_wide(p));
  alignas(64) __m128i block[4];
  _mm512_store_si512(block, all);
  for (uint32_t i = 1; i < 4; ++i) block[i] = _mm_xor_si128(fold(block[i - 1], one), block[i]);
  return block[3];
}

const bool kHasWide = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;

// block · x^(32 + 8m) modulo P.
uint32_t reduce(__m128i block, int m) {
  const __m128i factors = pair_of(uint64_t{kZeroFactors(m + 8)} << 1, uint64_t{kZeroFactors(m)} << 1);
  const __m128i product = fold(block, factors);  // bit t is x^(95−t): 64 bits too high, then the rest
  const __m128i constants = pair_of(inverse_of_p(), kP);
  const __m128i quotient = _mm_clmulepi64_si128(product, constants, 0x00);
  const __m128i back = _mm_clmulepi64_si128(quotient, constants, 0x10);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(product, back), 2));
}

}  // namespace

uint32_t icrc_of(const uint8_t* l3, uint32_t bytes, uint32_t zeros, IpVersion version) noexcept {
  const auto* ones = reinterpret_cast<const __m128i*>(kMasks[version == IpVersion::k6].ones.data());
  const __m128i factors = fold_factors<128>();
  const __m128i seed = _mm_cvtsi32_si128(static_cast<int>(state_after_leading_ones()));
  const uint8_t* p = l3 + kBlock;
  const uint8_t* end = l3 + bytes;
  __m128i state = _mm_xor_si128(_mm_or_si128(load_block(l3), ones[0]), seed);
  uint32_t block = 1;
  for (; block < kMaskedBlocks && end - p >= kBlock; ++block, p += kBlock) {
    state = _mm_xor_si128(fold(state, factors), _mm_or_si128(load_block(p), ones[block]));
  }
  if (end - p >= 512 && kHasWide) {
    state = fold_wide_long(state, p, end);
  } else if (end - p >= 128) {
    state = fold_long(state, p, end);
  }
  for (; end - p >= kBlock; p += kBlock) state = _mm_xor_si128(fold(state, factors), load_block(p));
  int m = static_cast<int>(zeros);
  if (p != end) {
    const auto rest = static_cast<uint32_t>(end - p);
    __m128i last = last_bytes(end, rest);
    if (block < kMaskedBlocks) last = _mm_or_si128(last, ones[block]);
    state = _mm_xor_si128(fold(state, factors), last);
    m -= static_cast<int>(kBlock - rest);
  }
  return ~reduce(state, m);
}

PatchedIcrc::PatchedIcrc(const uint8_t* l3, uint32_t bytes, uint32_t zeros, IpVersion version, uint32_t first,
                         uint32_t second)
    : first_factor_(kZeroFactors(static_cast<int>(bytes - first - 4 + zeros))),
      second_factor_(kZeroFactors(static_cast<int>(bytes - second - 4 + zeros))),
      template_icrc_(icrc_of(l3, bytes, zeros, version)) {}

}  // namespace softspine::dataplane
