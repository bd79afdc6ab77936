// SPDX-License-Identifier: Apache-2.0
// A frame to ask about: a RoCEv2 write, or a plain UDP or TCP packet, from one host to another.
#pragma once

#include <cstdint>
#include <vector>

#include "control/model/testbed.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

struct Probe {
  uint32_t from = 0;  // hosts of the fabric
  uint32_t to = 0;
  uint16_t port = 0;  // of `from`, by which it leaves
  uint8_t protocol = dataplane::ip::kUdp;
  uint16_t source_port = 49'152;
  uint16_t destination_port = dataplane::udp::kRoceV2Port;
  uint32_t qp = 17;
  uint8_t opcode = dataplane::bth::kWriteOnly;
  bool is_ipv6 = false;
  uint32_t flow_label = 0;
};

// A whole frame without FCS, with a RoCEv2 header if it goes to that port by UDP. `gateway`: the MAC that the host
// sends to. Its ICRC is not computed: switches do not look.
std::vector<uint8_t> frame_of(const control::Fabric& fabric, const Probe& probe, const dataplane::MacAddress& gateway);

}  // namespace softspine::analysis
