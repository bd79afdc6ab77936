// SPDX-License-Identifier: Apache-2.0
// Rare events of a priority group, counted in frames: the MMU counts in this struct, and snapshots copy it whole.
// Counts that every frame changes are in PriorityGroupUse. No DPDK.
//
// To add a counter: a member and its row here, and the line that counts it.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/counter_facts.hpp"

namespace softspine::dataplane {

struct PriorityGroupCounters {
  uint64_t dropped_packets = 0;  // refused

  // Every member, in the order in which they are shown.
  static constexpr auto rows();
  friend bool operator==(const PriorityGroupCounters&, const PriorityGroupCounters&) = default;
};

constexpr auto PriorityGroupCounters::rows() {
  using enum CounterUnit;
  return std::to_array<CounterRow<PriorityGroupCounters>>({
      {&PriorityGroupCounters::dropped_packets,
       {.unit = kPackets,
        .sai = "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
        .metric = "softspine_priority_group_dropped_packets_total",
        .help = "Frames that the priority group refused.",
        .row = "dropped_packets"}},
  });
}
static_assert(sizeof(PriorityGroupCounters) == PriorityGroupCounters::rows().size() * sizeof(uint64_t),
              "a member has no row");

}  // namespace softspine::dataplane
