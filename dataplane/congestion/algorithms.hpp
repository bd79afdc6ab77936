// SPDX-License-Identifier: Apache-2.0
// The list of all congestion controls. A new one has a header of its own (congestion_algorithm.hpp says what it must
// declare) and its line here; testbed files, schema, reference, hosts and NICs take it from this list.
#pragma once

#include <variant>

#include "dataplane/congestion/bdp_cap.hpp"
#include "dataplane/congestion/reaction_point.hpp"
#include "dataplane/congestion/timely.hpp"

namespace softspine::dataplane {

template <typename... Algorithms>
struct CongestionAlgorithmList {
  using Any = std::variant<std::monostate, Algorithms...>;
  using AnyParameters = std::variant<std::monostate, typename Algorithms::Parameters...>;

  // each.operator()<Algorithm>() for all of them, in their order.
  template <typename Each>
  static constexpr void for_each(Each&& each) {
    (each.template operator()<Algorithms>(), ...);
  }
};

using CongestionAlgorithms = CongestionAlgorithmList<  //
    ReactionPoint,                                     // DCQCN
    Timely,                                            //
    BdpCap>;                                           // BDP-FC

// The congestion control of a queue pair or a NIC: none, or the parameters of one algorithm.
using CongestionParameters = CongestionAlgorithms::AnyParameters;

inline bool controls_congestion(const CongestionParameters& parameters) {
  return parameters.index() != 0;
}

namespace congestion {

template <typename Predicate>
bool holds_for(const CongestionParameters& parameters, Predicate&& predicate) {
  bool holds = false;
  CongestionAlgorithms::for_each([&]<typename Algorithm>() {
    if (std::holds_alternative<typename Algorithm::Parameters>(parameters))
      holds = predicate.template operator()<Algorithm>();
  });
  return holds;
}

}  // namespace congestion

inline bool uses_cnps(const CongestionParameters& parameters) {
  return congestion::holds_for(parameters, []<typename Algorithm>() { return Algorithm::kUsesCnps; });
}
// What the parameters say for a receiver that sends CNPs.
inline Duration cnp_interval_of(const CongestionParameters& parameters) {
  const auto* dcqcn = std::get_if<ReactionParameters>(&parameters);
  return dcqcn == nullptr ? ReactionParameters{}.cnp_interval : dcqcn->cnp_interval;
}
inline Duration nic_delay_of(const CongestionParameters& parameters) {
  const auto* dcqcn = std::get_if<ReactionParameters>(&parameters);
  return dcqcn == nullptr ? Duration{} : dcqcn->nic_delay;
}
inline bool uses_acks(const CongestionParameters& parameters) {
  return congestion::holds_for(parameters, []<typename Algorithm>() { return Algorithm::kUsesAcks; });
}

}  // namespace softspine::dataplane
