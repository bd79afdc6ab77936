// SPDX-License-Identifier: Apache-2.0
// The usual key (ecmp_hash.hpp) of an IPv4 packet, made in registers: the bytes that KeyLayout would lay out, which
// tests compare. In RTAG7's bins the protocol and the QP have a zero before them, and the QP's end is a third word.
#pragma once

#include <cstdint>
#include <cstring>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

struct UsualWords {
  uint64_t words[3];
  uint32_t count;  // 0: this packet's key has to be laid out
};

// `l3` and `l4` point to the packet's headers.
inline UsualWords usual_key(UsualKey usual, HashModel model, uint32_t flags, uint8_t protocol, const uint8_t* l3,
                            const uint8_t* l4) {
  if (usual == UsualKey::kNo || (flags & kIsIpv4) == 0) [[unlikely]]
    return {};
  uint32_t ports = 0;
  if ((flags & (kIsUdp | kIsTcp)) != 0) [[likely]]
    std::memcpy(&ports, l4, 4);
  uint64_t qp = 0;
  if (usual != UsualKey::kFiveTuple) {
    if ((flags & kIsRoce) != 0) [[likely]] {
      uint32_t bytes;  // as the packet has it, like the rest
      std::memcpy(&bytes, l4 + udp::kBytes + bth::kDestinationQp, 4);
      qp = bytes & 0xffffff;
    } else if (usual == UsualKey::kWithQpUdf) {  // matches also what is no whole RoCEv2
      return {};
    }
  }
  UsualWords out;
  std::memcpy(&out.words[0], l3 + ipv4::kSource, 8);
  if (model == HashModel::kSai) [[likely]] {
    out.words[1] = qp << 40 | uint64_t{protocol} << 32 | ports;
    out.words[2] = 0;
    out.count = 2;
    return out;
  }
  out.words[1] = qp << 56 | uint64_t{protocol} << 40 | ports;
  out.words[2] = qp >> 8;
  out.count = usual == UsualKey::kFiveTuple ? 2 : 3;
  return out;
}

}  // namespace softspine::dataplane
