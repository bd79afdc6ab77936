// SPDX-License-Identifier: Apache-2.0
// The key that Linux hashes of a packet that it forwards, by net.ipv4.fib_multipath_hash_policy (or ipv6's):
//
//   0  SRC_IP, DST_IP; of IPv6 also IPV6_FLOW_LABEL and IP_PROTOCOL
//   1  SRC_IP, DST_IP, IP_PROTOCOL, L4_SRC_PORT, L4_DST_PORT
//   2  as 0, but of the packet inside of GRE or IP in IP (inner_headers.hpp; Linux does not look into VXLAN)
//   3  the fields of 0 and 1, and IPV6_FLOW_LABEL, that fib_multipath_hash_fields selects: `fields`
//
// The key is the kernel's struct flow_keys from `basic` on: 48 bytes of IPv4, 72 of IPv6, zeros where nothing is said:
//   2 IP_PROTOCOL · 4 … 7 flow label, by policy 0 in network order, else in little-endian order · 28 L4_SRC_PORT ·
//   30 L4_DST_PORT · 36 SRC_IP · 40 or 52 DST_IP
// Both directions of a flow hash alike: the smaller address and the smaller port come first, each by itself, IPv4
// addresses and ports compared as little-endian numbers. Ports are those of UDP, TCP, SCTP, DCCP, ESP (its SPI),
// UDP-Lite and AH, not of fragments.
//
// Not emulated: Linux follows IPv6 extension headers, more than one level of tunnels, and ICMP errors to the packet
// that they report. With policy 1 it keeps a hash that a NIC has computed instead of this one.
#pragma once

#include <vector>

#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/key_part.hpp"
#include "dataplane/hashing/own_key.hpp"

namespace softspine::dataplane {

struct LinuxKey {
  static constexpr uint32_t bytes_of(bool is_ipv6) { return is_ipv6 ? 72 : 48; }

  static std::vector<KeyPart> parts_of(const HashConfig& config, bool is_ipv6);
  static uint8_t variant_of(const HashConfig& config) { return config.linux_policy; }
  static bool has_ports(const HeaderView& view, uint8_t policy) noexcept;
  // Ports that parse does not know, byte order, the order of source and destination.
  static void finish(const std::vector<KeyPart>& parts, const HeaderView& view, uint8_t policy, uint8_t* key) noexcept;
  // By policy 2 what is inside of the packet, if it is one of its tunnels.
  static OwnKey::ViewOf inside_of(const HashConfig& config);
};

template <>
inline constexpr const OwnKey* kOwnKey<HashModel::kLinux> = &kKeyOf<LinuxKey>;

}  // namespace softspine::dataplane
