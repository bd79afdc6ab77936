// SPDX-License-Identifier: Apache-2.0
// The congestion control of a queue pair or a NIC: none, or the parameters of one algorithm. The parameters that a
// configuration carries; algorithms.hpp lists the classes that obey it.
#pragma once

#include <variant>

#include "dataplane/congestion/bdp_cap_parameters.hpp"
#include "dataplane/congestion/dctcp_parameters.hpp"
#include "dataplane/congestion/hpcc_parameters.hpp"
#include "dataplane/congestion/reaction_parameters.hpp"
#include "dataplane/congestion/swift_parameters.hpp"
#include "dataplane/congestion/timely_parameters.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

using CongestionParameters = std::variant<std::monostate, ReactionParameters, TimelyParameters, BdpCapParameters,
                                          DctcpParameters, HpccParameters, SwiftParameters>;

inline bool controls_congestion(const CongestionParameters& parameters) {
  return parameters.index() != 0;
}

// The interval of the parameters for a receiver that sends CNPs.
inline Duration cnp_interval_of(const CongestionParameters& parameters) {
  const auto* dcqcn = std::get_if<ReactionParameters>(&parameters);
  return dcqcn == nullptr ? ReactionParameters{}.cnp_interval : dcqcn->cnp_interval;
}
inline Duration nic_delay_of(const CongestionParameters& parameters) {
  const auto* dcqcn = std::get_if<ReactionParameters>(&parameters);
  return dcqcn == nullptr ? Duration{} : dcqcn->nic_delay;
}

}  // namespace softspine::dataplane
