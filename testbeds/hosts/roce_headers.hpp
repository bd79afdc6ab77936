// SPDX-License-Identifier: Apache-2.0
// The headers of a RoCEv2 frame, written once into a template: Ethernet, IPv4 or IPv6, UDP, BTH.
#pragma once

#include <cstdint>

#include "dataplane/packet/icrc.hpp"
#include "testbeds/hosts/host_config.hpp"

namespace softspine::testbeds {

inline constexpr uint8_t kResponseTtl = 64;  // of what a host sends back

// Where the headers go to and by what they are known on the way.
struct RoceAddress {
  IpAddress destination;
  uint32_t destination_qp = 0;
  uint16_t source_port = 0;
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint8_t ttl = kResponseTtl;
  uint32_t flow_label = 0;  // IPv6
};

constexpr dataplane::IpVersion version_of(const IpAddress& address) {
  return std::holds_alternative<Ipv4Address>(address) ? dataplane::IpVersion::k4 : dataplane::IpVersion::k6;
}

struct HeaderPlaces {
  uint8_t* l3;
  uint8_t* bth;
  uint8_t* extension;  // behind the BTH
};

// Into zeroed bytes at `frame`, for a packet that has `bytes_behind_bth` (ICRC included) after its BTH. The BTH has
// the default partition key and PSN 0, and whatever flags and acknowledge request the caller adds; IPv4's id and
// checksum are 0, and so is the UDP checksum, as rxe sends it (for IPv6, too: RFC 6936 allows tunnels that).
HeaderPlaces write_roce_headers(uint8_t* frame, const HostConfig& host, const RoceAddress& to, uint8_t opcode,
                                uint32_t bytes_behind_bth);

}  // namespace softspine::testbeds
