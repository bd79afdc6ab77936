// SPDX-License-Identifier: Apache-2.0
// The usual key (ecmp_hash.hpp) of an IPv4 packet, made in registers: the bytes that KeyLayout would lay out, which
// tests compare.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

struct UsualFields {
  uint64_t addresses;  // source, destination: as memory has them, like the rest
  uint64_t qp;         // 0: not hashed
  uint32_t ports;      // source, destination
  uint8_t protocol;
  bool are_all;  // false: this packet's key has to be laid out
};

// `l3` and `l4` point to the packet's headers.
inline UsualFields usual_fields(UsualKey usual, uint32_t flags, uint8_t protocol, const uint8_t* l3,
                                const uint8_t* l4) {
  if (usual == UsualKey::kNo || (flags & kIsIpv4) == 0) [[unlikely]]
    return {};
  UsualFields out{.addresses = 0, .qp = 0, .ports = 0, .protocol = protocol, .are_all = true};
  if ((flags & (kIsUdp | kIsTcp)) != 0) [[likely]]
    std::memcpy(&out.ports, l4, 4);
  if (usual != UsualKey::kFiveTuple) {
    if ((flags & kIsRoce) != 0) [[likely]] {
      uint32_t bytes;
      std::memcpy(&bytes, l4 + udp::kBytes + bth::kDestinationQp, 4);
      out.qp = bytes & 0xffffff;
    } else if (usual == UsualKey::kWithQpUdf) {  // the UDF also matches packets that are not whole RoCEv2
      return {};
    }
  }
  std::memcpy(&out.addresses, l3 + ipv4::kSource, 8);
  return out;
}

// The key's words by its shape.
inline std::array<uint64_t, 2> packed(const UsualFields& it) {
  return {it.addresses, it.qp << 40 | uint64_t{it.protocol} << 32 | it.ports};
}
inline std::array<uint64_t, 3> in_words(const UsualFields& it) {  // zeros before the protocol and the QP
  return {it.addresses, it.qp << 56 | uint64_t{it.protocol} << 40 | it.ports, it.qp >> 8};
}
inline std::array<uint64_t, 4> in_bins(const UsualFields& it) {
  const uint64_t ip = __builtin_bswap64(it.addresses);  // source, destination
  const uint64_t l4 = __builtin_bswap32(it.ports);      // source, destination
  return {__builtin_bswap64(it.qp) >> 40 << 32,         // bins 1 and 0
          l4 << 48 | uint64_t{it.protocol} << 32,       // bins 5 and 4
          ip << 32 | l4 >> 16,                          // bins 9, 8 and 6
          ip >> 32};                                    // bins 11 and 10
}

template <HashAlgorithm A>
inline uint32_t hash_of_usual(const EcmpHash& hash, const UsualFields& it) {
  constexpr const HashAlgorithmRow& row = row_of(A);
  if constexpr (row.is_of_hosts()) return 0;  // none of their keys is usual
  if constexpr (row.is_in(HashModel::kRtag7)) {
    if (!row.is_in(HashModel::kSai) || hash.model() == HashModel::kRtag7) {
      const auto words = in_bins(it);
      return hash.of<A, HashModel::kRtag7>(words.data(), 4);
    }
  }
  if constexpr (row.is_in(HashModel::kSai)) {
    if constexpr (row.in_words) {
      const auto words = in_words(it);
      return hash.of<A, HashModel::kSai>(words.data(), 3);
    }
    const auto words = packed(it);
    return hash.of<A, HashModel::kSai>(words.data(), 2);
  }
}

}  // namespace softspine::dataplane
