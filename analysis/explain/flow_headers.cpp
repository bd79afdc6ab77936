// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/flow_headers.hpp"

#include <fmt/format.h>

#include "control/model/address.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

std::string address_at(const uint8_t* bytes, bool is_ipv6) {
  if (!is_ipv6) return to_string(control::Ipv4Address{dp::load32(bytes)});
  return to_string(control::Ipv6Address{dp::load_ipv6(bytes)});
}

std::string end_of(const std::string& address, bool is_ipv6, const std::optional<uint16_t>& port) {
  if (!port) return address;
  return is_ipv6 ? fmt::format("[{}]:{}", address, *port) : fmt::format("{}:{}", address, *port);
}

}  // namespace

FlowHeaders flow_headers(const dp::Packet& packet) {
  const dp::PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const uint8_t* l4 = packet.data() + meta.l4_offset;
  FlowHeaders out;
  out.is_ipv6 = (meta.flags & dp::kIsIpv6) != 0;
  out.protocol = meta.ip_protocol;
  out.source = address_at(l3 + (out.is_ipv6 ? dp::ipv6::kSource : dp::ipv4::kSource), out.is_ipv6);
  out.destination = address_at(l3 + (out.is_ipv6 ? dp::ipv6::kDestination : dp::ipv4::kDestination), out.is_ipv6);
  if ((meta.flags & (dp::kIsUdp | dp::kIsTcp)) != 0) {
    out.source_port = dp::load16(l4 + dp::udp::kSourcePort);
    out.destination_port = dp::load16(l4 + dp::udp::kDestinationPort);
  }
  if ((meta.flags & dp::kIsRoce) != 0) out.qp = dp::load24(l4 + dp::udp::kBytes + dp::bth::kDestinationQp);
  return out;
}

std::string text_of(const FlowHeaders& headers) {
  std::string out = end_of(headers.source, headers.is_ipv6, headers.source_port) + " > " +
                    end_of(headers.destination, headers.is_ipv6, headers.destination_port);
  if (headers.qp) return out + fmt::format(" QP {}", *headers.qp);
  if (headers.protocol == dp::ip::kTcp) return out + " TCP";
  return headers.source_port ? out : out + fmt::format(" protocol {}", headers.protocol);
}

control::Json json_of(const FlowHeaders& headers) {
  control::Json out{{"source", headers.source}, {"destination", headers.destination}, {"protocol", headers.protocol}};
  if (headers.source_port) out["source_port"] = *headers.source_port;
  if (headers.destination_port) out["destination_port"] = *headers.destination_port;
  if (headers.qp) out["qp"] = *headers.qp;
  return out;
}

}  // namespace softspine::analysis
