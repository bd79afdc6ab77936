// SPDX-License-Identifier: Apache-2.0
// The headers of a flow's frame, for reports: addresses, ports, QP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "control/telemetry/json_fwd.hpp"
#include "dataplane/packet/packet.hpp"

namespace softspine::analysis {

struct FlowHeaders {
  std::string source;
  std::string destination;
  bool is_ipv6 = false;
  uint8_t protocol = 0;
  std::optional<uint16_t> source_port;  // of UDP and TCP
  std::optional<uint16_t> destination_port;
  std::optional<uint32_t> qp;  // of RoCEv2
};

// The packet must have been parsed and be IP.
FlowHeaders flow_headers(const dataplane::Packet& packet);

// "10.0.1.2:49152 > 10.0.4.5:4791 QP 17"
std::string text_of(const FlowHeaders& headers);
control::Json json_of(const FlowHeaders& headers);

}  // namespace softspine::analysis
