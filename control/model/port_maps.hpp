// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/forwarding/azure_maps.hpp"

namespace softspine::control {

// The class, queue and priority group that packets get at a port.
struct PortMaps {
  std::array<uint8_t, 64> dscp_to_tc = dataplane::kAzureDscpToTc;
  std::array<uint8_t, 8> dot1p_to_tc = dataplane::kOwnTcOfDot1p;
  std::array<uint8_t, 8> tc_to_queue = dataplane::kAzureTcToQueue;
  std::array<uint8_t, 8> tc_to_pg = dataplane::kAzureTcToPg;
  // PORT_QOS_MAP gives the port a dot1p_to_tc_map and no dscp_to_tc_map: a packet's class is that of its tag's PCP, and
  // 0 without a tag; dscp_to_tc is all 0. (SAI: a map on a port is trust in what it maps.)
  bool trusts_pcp = false;
  friend bool operator==(const PortMaps&, const PortMaps&) = default;
};

}  // namespace softspine::control
