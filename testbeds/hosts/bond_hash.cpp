// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/bond_hash.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using control::BondMode;
using control::XmitHashPolicy;

namespace {

uint32_t word_of(Ipv4Address address) {
  return address;
}
uint32_t word_of(const Ipv6Address& address) {
  return load32(address.data()) ^ load32(address.data() + 4) ^ load32(address.data() + 8) ^ load32(address.data() + 12);
}

uint32_t addresses_of(const HostConfig& host, const FlowConfig& flow) {
  if (const auto* v4 = std::get_if<Ipv4Address>(&flow.destination)) return word_of(host.ipv4) ^ word_of(*v4);
  return word_of(host.ipv6) ^ word_of(std::get<Ipv6Address>(flow.destination));
}

uint32_t layer2_of(const HostConfig& host, const FlowConfig& flow) {
  const bool is_v4 = std::holds_alternative<Ipv4Address>(flow.destination);
  return uint32_t{host.mac[5]} ^ host.gateway[5] ^ (is_v4 ? ethernet::kTypeIpv4 : ethernet::kTypeIpv6);
}

uint32_t folded(uint32_t hash) {
  hash ^= hash >> 16;
  return hash ^ hash >> 8;
}

uint32_t hash_of(const HostConfig& host, const FlowConfig& flow) {
  switch (host.bond.xmit_hash_policy) {
    case XmitHashPolicy::kQp: return flow.id;
    case XmitHashPolicy::kLayer2: return layer2_of(host, flow);
    case XmitHashPolicy::kLayer23: return folded(layer2_of(host, flow) ^ addresses_of(host, flow));
    case XmitHashPolicy::kLayer34: break;
  }
  const uint32_t ports = uint32_t{flow.source_port} << 16 | udp::kRoceV2Port;
  return folded(ports ^ addresses_of(host, flow)) >> 1;
}

}  // namespace

PortNo bond_port(const HostConfig& host, const FlowConfig& flow) {
  if (host.ports == 1 || host.bond.mode == BondMode::kActiveBackup) return PortNo{0};
  return PortNo{static_cast<uint16_t>(hash_of(host, flow) % host.ports)};
}

}  // namespace softspine::testbeds
