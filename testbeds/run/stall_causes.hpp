// SPDX-License-Identifier: Apache-2.0
// Which fault a flow stands still by. Only faults that struck before it stood (Stall::least after its last packet), and
// before the stall's end, can be the cause, and none that was over when its last packet arrived.
//
// The cause is the one of these of which most is known:
//   1  it struck as the flow stopped, and the flow has lost packets by it meanwhile
//   2  it struck as the flow stopped, at one of the flow's hosts
//   3  it struck as the flow stopped, and stops packets without losing any: a storm, a slow receiver, TX disabled
//   4  it struck before, and the flow has lost packets by it meanwhile
//   5  it struck as the flow stopped
//   6  it struck before, at one of the flow's hosts
//   7  it struck before
// As it stopped: from 40 us before its last packet arrived on, since what is on its way when a fault strikes still
// arrives. Meanwhile: since that packet can have been sent, by the longest that one was under way.
// If there are several: the one that lost its packet first; else the last to strike before the flow stopped; else the
// first after.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "testbeds/run/loss_causes.hpp"
#include "testbeds/run/stall_look.hpp"

namespace softspine::testbeds {

// A fault, as far as it may have stopped one flow.
struct StallSuspect {
  const FaultScope& scope;
  dataplane::Instant at;
  dataplane::Instant restored = dataplane::Instant::never();
  dataplane::Instant first_lost = dataplane::Instant::never();  // of this flow, by this fault
  dataplane::Instant last_lost = {};
};

using Suspicion = std::pair<int, int64_t>;  // the greater, the more

std::optional<Suspicion> suspicion(const control::Fabric& fabric, const RunFlows& flows, const Stall& stall,
                                   const StallSuspect& suspect);

}  // namespace softspine::testbeds
