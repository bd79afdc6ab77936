// SPDX-License-Identifier: Apache-2.0
// Alibaba HPN (SIGCOMM 2024).
//
// Segments of servers with one NIC per rail; each NIC has a port on both ToRs of its rail, same address. Two planes:
// the first ToR of a rail, and port 0 of every NIC, belong to plane 1, the second ToR and port 1 to plane 2.
//
//   tier 2, any-to-any   a ToR has one uplink to every aggregation switch of its pod and plane
//   tier 2, rail-only    each rail has aggregation switches of its own; rails meet in the core, or nowhere
//   core                 an aggregation switch has `core_uplinks` to the cores of its plane: the n-th of every pod to
//                        the same ones. `planes_meet: core`: all cores serve both planes
//   one plane            a ToR has an uplink to every aggregation switch (their baseline with dual ToR)
//
// Published: a pod of 15 segments, 128 servers each, 8 rails, 60 aggregation switches a plane with 120 ports down and
// 8 up (15:1), 200G NIC ports, 400G between switches. How many cores there are is not published: the 8 of each plane
// are the fewest that give each uplink of a switch a core of its own.
// Names: s1-r1-tor1, s1-h1-nic1, p1-agg1, p1-core1; rail-only p1-r1-agg1; one plane agg1; one plane, or planes that
// meet: core1. Several pods: pod1-s1-r1-tor1, pod1-s1-h1-nic1, pod1-p1-agg1.
#pragma once

#include <optional>

#include "control/generators/bond_row.hpp"
#include "control/generators/draft.hpp"
#include "control/generators/size.hpp"

namespace softspine::control {

enum class Tier2 : uint8_t { kAnyToAny, kRailOnly };
enum class PlanesMeet : uint8_t { kNever, kCore };

struct Hpn {
  Value where;
  uint32_t pods = 1;
  uint32_t segments = 0;  // of a pod
  uint32_t servers_per_segment = 0;
  uint32_t rails = 8;
  uint32_t planes = 2;
  Tier2 tier2 = Tier2::kAnyToAny;
  uint32_t aggregations_per_plane = 0;  // of a pod; rail-only: of a rail
  uint32_t cores = 0;                   // of both planes together
  uint32_t core_uplinks = 1;            // of an aggregation switch
  PlanesMeet planes_meet = PlanesMeet::kNever;
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<LinkSpec> core_link;
  std::optional<BondRow> bond;  // of every host
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;

  static Hpn published_segment();
  static Hpn published_pod();
  bool shares_cores() const { return planes == 1 || planes_meet == PlanesMeet::kCore; }
};

Size size_of(const Hpn& spec);

// To be called only if size_of() is within its limits, and each plane can have as many cores as the other.
void draft(const Hpn& spec, Draft& out);

}  // namespace softspine::control
