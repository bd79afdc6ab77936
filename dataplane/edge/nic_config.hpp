// SPDX-License-Identifier: Apache-2.0
// What a NIC is told. No DPDK.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/congestion/algorithms.hpp"
#include "dataplane/congestion/notification_point.hpp"
#include "dataplane/flow_control/link_modes.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct NicConfig {
  // To the fabric: by how much the link may be behind, in emulated time, before the host is no longer asked.
  Duration horizon = Duration::us(50);
  // To the host: what may wait for it, and from where on it is too much.
  uint32_t hold_bytes = 1U << 20;
  // Emulated, for the first of what waits: a dilated fabric wants it divided by its dilation.
  Duration hold_time = Duration::s(1);
  uint32_t xoff_bytes = 256U << 10;
  uint32_t xon_bytes = 192U << 10;

  LinkMode link_mode = LinkMode::kPfc;
  MacAddress mac{};  // of the frames that it makes itself
  // Bit n: it obeys pauses of priority n, and says them when the host cannot take what comes.
  uint8_t pfc_enable = 0;
  // The host's own adapter obeys and says pauses: they go through as they are, both ways. Without pfc_enable.
  bool relays_pfc = false;
  std::array<uint8_t, 64> priority_of_dscp{};     // what is not IP has DSCP 0's
  std::optional<uint32_t> pause_response_quanta;  // instead of the standard's for the link's rate
  Rate rate;                                      // both ways, if it is less than the link's; zero: the link's

  // For a host that has none: one that CNPs alone steer, and the notification point's parameters.
  CongestionParameters congestion_control;
  Duration cnp_interval = NotificationPoint::kInterval;
  uint8_t cnp_dscp = 48;

  // What the host's RoCEv2 packets get instead of what it wrote there.
  std::optional<uint8_t> dscp;
  uint16_t source_port = 0;  // UDP; 0: its own
};

}  // namespace softspine::dataplane
