// SPDX-License-Identifier: Apache-2.0
// The key that Open vSwitch's userspace datapath hashes of an IP packet for a select group with dp_hash:
//
//   L4      SRC_IP, DST_IP, IP_PROTOCOL; of TCP, UDP, SCTP, ICMP and ICMPv6 also the ports, a first fragment's, too;
//           zeros for those of later fragments. ICMP has type and code for ports, two bytes each
//   SYM_L4  SRC_IP ⊕ DST_IP, IP_PROTOCOL; of whole TCP and SCTP packets also L4_SRC_PORT ⊕ L4_DST_PORT. Not of UDP:
//           all RoCEv2 flows between two hosts hash alike
//
// The key, 16 bytes of IPv4, 40 of IPv6:
//   0 SRC_IP · DST_IP · IP_PROTOCOL, a byte · two zeros · 1 if ports are hashed, else 0 · L4_SRC_PORT 2 · L4_DST_PORT 2
// With SYM_L4 the XORs take the sources' places, and zeros the destinations': flows that hash alike have the same key.
//
// Not emulated: OVS follows IPv6 extension headers, and with L4 takes the hash that a NIC has computed (RSS), if any.
// Source: lib/flow.c and lib/odp-execute.c of OVS 3.1; tests/wire compares with a running one.
#pragma once

#include <vector>

#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/key_part.hpp"
#include "dataplane/hashing/own_key.hpp"

namespace softspine::dataplane {

constexpr bool is_symmetric_ovs(HashAlgorithm algorithm) {
  return algorithm == HashAlgorithm::kOvsSymL4 || algorithm == HashAlgorithm::kOvsSymL4Crc32c;
}

struct OvsKey {
  static constexpr uint32_t bytes_of(bool is_ipv6) { return is_ipv6 ? 40 : 16; }

  // With SYM_L4 the parts of the sources stand for the XORs.
  static std::vector<KeyPart> parts_of(const HashConfig& config, bool is_ipv6);
  static uint8_t variant_of(const HashConfig& config) { return is_symmetric_ovs(config.algorithm) ? 1 : 0; }
  static bool has_ports(const HeaderView& view, uint8_t is_symmetric) noexcept;
  // The ports, whether they are hashed, and the XORs.
  static void finish(const std::vector<KeyPart>& parts, const HeaderView& view, uint8_t is_symmetric,
                     uint8_t* key) noexcept;
  static OwnKey::ViewOf inside_of(const HashConfig&) { return nullptr; }
};

template <>
inline constexpr const OwnKey* kOwnKey<HashModel::kOvs> = &kKeyOf<OvsKey>;

}  // namespace softspine::dataplane
