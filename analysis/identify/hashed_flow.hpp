// SPDX-License-Identifier: Apache-2.0
// A flow as an ECMP hash may see it, and a frame of it, made for asking a hash.
//
// MACs are not part of it: a capture behind the switch shows those that the switch has written.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/hashing/hash_key.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

struct Flow {
  using Address = std::array<uint8_t, 16>;  // an IPv4 address in the first four bytes
  bool is_ipv6 = false;
  Address source{};
  Address destination{};
  uint8_t protocol = dataplane::ip::kUdp;
  uint16_t source_port = 0;  // of UDP and TCP; else 0
  uint16_t destination_port = 0;
  uint32_t qp = 0;  // of RoCEv2: UDP to 4791; else 0, like the opcode
  uint8_t opcode = 0;
  uint32_t flow_label = 0;  // of IPv6
  uint16_t in_port = 0;
  uint16_t vlan = 0;

  bool has_ports() const { return protocol == dataplane::ip::kUdp || protocol == dataplane::ip::kTcp; }
  bool is_roce() const { return protocol == dataplane::ip::kUdp && destination_port == dataplane::udp::kRoceV2Port; }
  friend auto operator<=>(const Flow&, const Flow&) = default;
};

// The parts of flows that a hash can take. An address counts for SRC_IP, SRC_IPV4 and SRC_IPV6 alike.
enum class FlowPart : uint8_t {
  kSource,
  kDestination,
  kSourcePort,
  kDestinationPort,
  kProtocol,
  kQp,
  kOpcode,
  kFlowLabel,
  kInPort,
  kVlan
};
inline constexpr size_t kFlowParts = 10;

// The field that takes the part; of the addresses, SRC_IP and DST_IP.
dataplane::HashField field_of(FlowPart part);
uint64_t value_of(const Flow& flow, FlowPart part);  // of an IPv6 address a digest
// False unless both are addresses of one version.
bool set_addresses(Flow& flow, std::string_view source, std::string_view destination);
// The flow with zeros in place of the part.
Flow without(Flow flow, FlowPart part);

// The frame has no FCS. Its addresses on layer 2 are zeros.
std::vector<uint8_t> frame_of(const Flow& flow);
// The flow of a parsed packet; of IP only.
Flow flow_of(const dataplane::Packet& packet);
// "udp 10.0.0.1:49152 → 10.0.1.1:4791, QP 17"
std::string to_string(const Flow& flow);

// A flow's frame with its headers parsed.
class FlowFrame {
 public:
  explicit FlowFrame(const Flow& flow);
  dataplane::HeaderView view() const {
    dataplane::HeaderView out = view_;
    out.frame = bytes_.data();
    return out;
  }

 private:
  std::vector<uint8_t> bytes_;
  dataplane::HeaderView view_{};
};

}  // namespace softspine::analysis
