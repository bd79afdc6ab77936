// SPDX-License-Identifier: Apache-2.0
// The list of all congestion controls. A new one has a class in a header of its own (congestion_algorithm.hpp lists
// what it must declare), its parameters in another, and a line here and in congestion_parameters.hpp; testbed files,
// schema, reference, hosts and NICs take it from this list.
#pragma once

#include <type_traits>
#include <variant>

#include "dataplane/congestion/bdp_cap.hpp"
#include "dataplane/congestion/congestion_parameters.hpp"
#include "dataplane/congestion/dctcp.hpp"
#include "dataplane/congestion/hpcc.hpp"
#include "dataplane/congestion/reaction_point.hpp"
#include "dataplane/congestion/swift.hpp"
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
    BdpCap,                                            // BDP-FC
    Dctcp,                                             //
    Hpcc,                                              //
    Swift>;                                            //

// A place in the one list is a place in the other.
static_assert(std::is_same_v<CongestionAlgorithms::AnyParameters, CongestionParameters>);

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
inline bool uses_acks(const CongestionParameters& parameters) {
  return congestion::holds_for(parameters, []<typename Algorithm>() { return Algorithm::kUsesAcks; });
}

inline bool uses_echo(const CongestionParameters& parameters) {
  return congestion::holds_for(parameters, []<typename Algorithm>() { return Algorithm::kUsesEcho; });
}
inline bool uses_telemetry(const CongestionParameters& parameters) {
  return congestion::holds_for(parameters, []<typename Algorithm>() { return Algorithm::kUsesTelemetry; });
}
inline bool asks_always(const CongestionParameters& parameters) {
  return congestion::holds_for(parameters, []<typename Algorithm>() { return Algorithm::kAsksAlways; });
}
inline bool begins_below_window(const CongestionParameters& parameters) {
  return congestion::holds_for(parameters, []<typename Algorithm>() { return Algorithm::kBeginsBelowWindow; });
}

}  // namespace softspine::dataplane
