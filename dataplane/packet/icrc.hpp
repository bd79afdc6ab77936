// SPDX-License-Identifier: Apache-2.0
// RoCEv2's invariant CRC (InfiniBand Architecture annex A17.3.3), over all that no network may change between the end
// points. The ICRC is a CRC-32 (zlib's polynomial and reflection) of
//
//   8 × FF | IP header | UDP header | BTH | everything after it, up to the ICRC
//
// with the fields that a network may change read as ones: IPv4 TOS, TTL, checksum; IPv6 traffic
// class, flow label, hop limit; UDP checksum; BTH byte 4. Stored little-endian behind the payload.
//
// Arithmetic. A message is a polynomial over GF(2), its CRC the remainder of message · x^32 modulo P.
// Carry-less multiplication folds 16 bytes onto the next 16; n zero bytes behind a message multiply it
// by x^8n, which is one more factor in the last multiplication. Leaving out a payload of zeros therefore costs
// nothing at all, however long it is (`zeros`). A CRC is also linear: flipping bits of one word XORs the CRC with a
// value that depends on nothing but those bits and their distance from the end. A sender that changes two words of a
// template therefore needs two multiplications a packet (`PatchedIcrc`).
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

enum class IpVersion : uint8_t { k4 = 4, k6 = 6 };

// The longest run of zeros that can be left out: no IP packet here is longer.
inline constexpr uint32_t kMaxIcrcZeros = 9216;

// `l3` points at an IP header without options or extensions; `bytes` reach from there up to the ICRC,
// left-out zeros not counted, and cover at least IP, UDP and BTH. zeros ≤ kMaxIcrcZeros.
uint32_t icrc_of(const uint8_t* l3, uint32_t bytes, uint32_t zeros, IpVersion version) noexcept;

inline constexpr uint32_t roce_header_bytes(IpVersion version) {
  return (version == IpVersion::k4 ? ipv4::kMinBytes : ipv6::kBytes) + udp::kBytes + bth::kBytes;
}

inline uint32_t load_icrc(const uint8_t* p) {
  uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store_icrc(uint8_t* p, uint32_t icrc) {
  std::memcpy(p, &icrc, sizeof icrc);
}

// The ICRCs of packets that differ in one or two 32-bit words only.
class PatchedIcrc {
 public:
  PatchedIcrc() = default;
  // Arguments as of icrc_of(), then the offsets at which the two words begin.
  PatchedIcrc(const uint8_t* l3, uint32_t bytes, uint32_t zeros, IpVersion version, uint32_t first, uint32_t second);

  // `first`, `second`: the bits in which the words differ from the template's, in memory's byte order.
  uint32_t with(uint32_t first, uint32_t second) const {
    const __m128i product = _mm_xor_si128(_mm_clmulepi64_si128(lane(first), lane(uint64_t{first_factor_} << 1), 0),
                                          _mm_clmulepi64_si128(lane(second), lane(uint64_t{second_factor_} << 1), 0));
    // 64 bits modulo P: the quotient is their upper half times 1/P; the rest remains when P times the quotient is
    // taken off.
    const __m128i low_half = _mm_cvtsi32_si128(-1);
    const __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(product, low_half), lane(kInverseOfP), 0);
    const __m128i back = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_half), lane(kP), 0);
    const auto rest = static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_xor_si128(product, back)));
    return template_icrc_ ^ static_cast<uint32_t>(rest >> 32);
  }

 private:
  static constexpr uint64_t kP = 0x1db710641;          // reflected, bit 0 is x^32
  static constexpr uint64_t kInverseOfP = 0xf7011641;  // kP · kInverseOfP = 1 modulo 2^32, without carries
  static __m128i lane(uint64_t v) { return _mm_cvtsi64_si128(static_cast<int64_t>(v)); }

  uint32_t first_factor_ = 0;
  uint32_t second_factor_ = 0;
  uint32_t template_icrc_ = 0;
};

}  // namespace softspine::dataplane
