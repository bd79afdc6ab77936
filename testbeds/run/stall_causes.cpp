// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/stall_causes.hpp"

#include <algorithm>

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kOnItsWay = Duration::us(40);

bool is_at(const control::Fabric& fabric, const FaultScope& scope, uint32_t host) {
  const auto has_port = [&](control::LinkEnd port) { return port.node == host || fabric.peer_of(port).node == host; };
  const auto has_link = [&](uint32_t link) {
    return fabric.links[link].a.node == host || fabric.links[link].b.node == host;
  };
  return std::ranges::any_of(scope.ports, has_port) || std::ranges::any_of(scope.links, has_link);
}

bool has_lost(const RunFlows& flows, const Stall& stall, const StallSuspect& suspect) {
  const auto& sink = flows.sink(stall.flow);
  const Duration longest = Duration::ps(sink ? sink->received().latency_max_ps : 0);
  return suspect.first_lost < stall.to && suspect.last_lost >= stall.from - longest;
}

int known(const control::Fabric& fabric, const RunFlows& flows, const Stall& stall, const StallSuspect& suspect,
          bool struck_as_it_stopped) {
  if (has_lost(flows, stall, suspect)) return struck_as_it_stopped ? 7 : 4;
  const PlannedFlow& plan = flows.plan(stall.flow);
  if (is_at(fabric, suspect.scope, plan.source) || is_at(fabric, suspect.scope, plan.destination)) {
    return struck_as_it_stopped ? 6 : 2;
  }
  if (!struck_as_it_stopped) return 1;
  return suspect.scope.losses().stops_flows ? 5 : 3;
}

}  // namespace

std::optional<Suspicion> suspicion(const control::Fabric& fabric, const RunFlows& flows, const Stall& stall,
                                   const StallSuspect& suspect) {
  const bool is_in_time = suspect.at < std::min(stall.to, stall.from + stall.least) && stall.from < suspect.restored;
  if (!is_in_time) return std::nullopt;
  const Duration after = suspect.at - stall.from;
  const int much = known(fabric, flows, stall, suspect, after >= Duration{} - kOnItsWay);
  if (much == 7) return Suspicion{much, -suspect.first_lost.count_ps()};
  return Suspicion{much, after <= Duration{} ? after.count_ps() : -(after + kOnItsWay).count_ps()};
}

}  // namespace softspine::testbeds
