// SPDX-License-Identifier: Apache-2.0
// What a testbed says of the NIC before a host that is outside (nic.hpp, nic_congestion.hpp): the model and NicConfig
// hold it whole. No DPDK.
//
// To add a parameter: its member with its default, its line in kNicKeys, and the code that obeys it.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "dataplane/congestion/congestion_parameters.hpp"
#include "dataplane/congestion/notification_point.hpp"
#include "dataplane/units/parameter_key.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/top_rate.hpp"

namespace softspine::dataplane {

struct NicParameters {
  // The host's own adapter obeys and sends pauses: they pass unchanged, both ways.
  bool relay_pfc = false;
  Rate rate;  // both ways, if it is less than the link's; zero: the link's
  // Congestion control for a host that has none (only one that CNPs alone steer), and the notification point's
  // parameters. A file that gives no interval gets that of its congestion control.
  CongestionParameters congestion_control;
  uint8_t cnp_dscp = 48;
  Duration cnp_interval = NotificationPoint::kInterval;
  // Fields of the host's RoCEv2 packets that the NIC overwrites.
  std::optional<uint8_t> dscp;
  uint16_t source_port = 0;  // UDP; 0: its own
};

inline constexpr std::tuple kNicKeys{
    parameter("relay_pfc", &NicParameters::relay_pfc,
              "PFC frames go through as they are, both ways: for an edge behind which a real adapter obeys and says "
              "them, on a link of the same rate"),
    parameter("rate", &NicParameters::rate, "both ways, if it is less than the link's", Rate::min(), kTopRate)
        .without_default(),
    parameter("congestion_control", &NicParameters::congestion_control,
              "for hosts that have none: DCQCN's notification and reaction point, by the name of its parameters or as "
              "a map of them; none if not given")
        .without_default(),
    parameter("cnp_dscp", &NicParameters::cnp_dscp, "DCQCN: of CNPs; 48 if not given", 0, 63).without_default(),
    parameter("cnp_interval", &NicParameters::cnp_interval,
              "DCQCN: at most one CNP a queue pair in this time; as the set of parameters has it if not given",
              Duration::ps(1))
        .without_default(),
    parameter("dscp", &NicParameters::dscp, "of the host's RoCEv2 packets, instead of what it wrote there", 0, 63),
    parameter("source_port", &NicParameters::source_port,
              "UDP, of the host's RoCEv2 packets, instead of its own: one for all its queue pairs", 1)
        .without_default()};

}  // namespace softspine::dataplane
