// SPDX-License-Identifier: Apache-2.0
// The Internet checksum (RFC 1071) and its incremental update (RFC 1624, equation 3).
//
//   checksum = ~(one's complement sum of the 16-bit words)      HC' = ~(~HC + ~m + m')
//
// A header that holds its right checksum sums to 0xffff. Values are as numbers, not as in memory:
// `store16(header + ipv4::kChecksum, ipv4_checksum(header, 20))`.
//
// Partial sums add up in 64 bits, in memory's byte order (the sum does not care), and are folded and
// swapped once at the end: exact for any length below 4 GB.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

class ChecksumSum {
 public:
  // `bytes` may be odd for the last call only: the missing byte counts as zero.
  ChecksumSum& add(const uint8_t* p, uint32_t bytes) {
    for (; bytes >= 4; p += 4, bytes -= 4) {
      uint32_t word;
      std::memcpy(&word, p, sizeof word);
      sum_ += word;
    }
    if (bytes != 0) {
      uint32_t word = 0;
      std::memcpy(&word, p, bytes);
      sum_ += word;
    }
    return *this;
  }
  // One big-endian 16-bit word, such as a pseudo header's length or protocol.
  ChecksumSum& add_word(uint16_t word) {
    sum_ += __builtin_bswap16(word);
    return *this;
  }
  // The one's complement sum, 0 … 0xffff.
  uint16_t folded() const {
    uint64_t s = (sum_ >> 32) + (sum_ & 0xffffffff);
    s = (s >> 32) + (s & 0xffffffff);
    s = (s >> 16) + (s & 0xffff);
    s = (s >> 16) + (s & 0xffff);
    return __builtin_bswap16(static_cast<uint16_t>(s));
  }
  uint16_t checksum() const { return static_cast<uint16_t>(~folded()); }

 private:
  static_assert(std::endian::native == std::endian::little);
  uint64_t sum_ = 0;
};

// Over a header whose checksum field is zero: the value to store there.
// Over a header that holds its checksum: 0 if it is right.
inline uint16_t ipv4_checksum(const uint8_t* header, uint32_t bytes) {
  return ChecksumSum{}.add(header, bytes).checksum();
}
inline bool has_good_ipv4_checksum(const uint8_t* header, uint32_t bytes) {
  return ipv4_checksum(header, bytes) == 0;
}

// The checksum after one 16-bit word it covers has changed.
inline uint16_t updated_checksum(uint16_t checksum, uint16_t before, uint16_t after) {
  uint32_t sum = static_cast<uint16_t>(~checksum) + uint32_t{static_cast<uint16_t>(~before)} + after;
  sum = (sum >> 16) + (sum & 0xffff);
  sum = (sum >> 16) + (sum & 0xffff);
  return static_cast<uint16_t>(~sum);
}

// The forwarding step on both fields at once: TTL less by one, checksum kept right. TTL must be > 0.
inline void decrement_ttl(uint8_t* header) {
  constexpr uint32_t kStep = 0xffff - 0x0100;  // ~m + m', for any TTL > 0 and any protocol beside it
  const uint32_t sum = static_cast<uint16_t>(~load16(header + ipv4::kChecksum)) + kStep;
  --header[ipv4::kTtl];
  store16(header + ipv4::kChecksum, static_cast<uint16_t>(~((sum >> 16) + sum)));
}
// Another TOS byte (an ECN mark), checksum kept right.
inline void replace_tos(uint8_t* header, uint8_t tos) {
  const uint16_t before = load16(header + ipv4::kVersionIhl);
  const auto after = static_cast<uint16_t>((before & 0xff00) | tos);
  store16(header + ipv4::kVersionIhl, after);
  store16(header + ipv4::kChecksum, updated_checksum(load16(header + ipv4::kChecksum), before, after));
}

// The first part of a checksum over UDP, TCP or ICMPv6 in IPv6: the pseudo header (RFC 8200, 8.1).
// `source_and_destination` are the header's 32 bytes of addresses; lengths below 64 KiB.
inline ChecksumSum ipv6_pseudo_header(const uint8_t* source_and_destination, uint16_t length, uint8_t next_header) {
  ChecksumSum sum;
  sum.add(source_and_destination, 32).add_word(length).add_word(next_header);
  return sum;
}

}  // namespace softspine::dataplane
