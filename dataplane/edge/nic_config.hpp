// SPDX-License-Identifier: Apache-2.0
// A NIC's configuration. No DPDK.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/edge/nic_parameters.hpp"
#include "dataplane/flow_control/link_parameters.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct NicConfig {
  // To the fabric: by how much the link may be behind, in emulated time, before the host is no longer polled.
  Duration horizon = Duration::us(50);
  // To the host: how many bytes may wait for it at most, and (below) at how many XOFF and XON are sent.
  uint32_t hold_bytes = 1U << 20;
  // How long the first frame may wait, in emulated time: a dilated fabric should divide it by its dilation.
  Duration hold_time = Duration::s(1);
  uint32_t xoff_bytes = 256U << 10;
  uint32_t xon_bytes = 192U << 10;

  LinkParameters link;
  MacAddress mac{};                       // of the frames that it makes itself
  MacAddress gateway{};                   // and their next hop, where they go further than the link
  std::array<uint8_t, 64> pcp_of_dscp{};  // of the tags that it puts on them
  // Bit n: the NIC obeys pauses of priority n, and sends them when the host does not keep up.
  uint8_t pfc_enable = 0;
  std::array<uint8_t, 64> priority_of_dscp{};  // frames that are not IP have that of DSCP 0
  NicParameters parameters;                    // relay_pfc: not together with pfc_enable
};

}  // namespace softspine::dataplane
