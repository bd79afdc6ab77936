// SPDX-License-Identifier: Apache-2.0
// Three tiers with two ToRs for each segment: every NIC has a port on both.
//
//   dcn-plus   Alibaba's network before HPN, and HPN's baseline (SIGCOMM 2024)
//   front-end  the network by which GPU servers reach storage and users, apart from the back-end: one NIC a server
//
// A ToR has `links_per_aggregation` to each aggregation switch of its pod, an aggregation switch `core_uplinks` to
// the cores: the n-th of every pod to the same ones. Without these keys they are as many as give each tier as much
// bandwidth upwards as downwards (1:1), as both networks have it.
//
// Published, DCN+: 16 servers with 8 NICs a segment, 4 segments and 8 aggregation switches a pod. Its link rates and
// cores are not published: 200G and 400G as HPN's, and 64 cores, one for each uplink of an aggregation switch. Names:
// s1-tor1, s1-tor2, s1-h1-nic1 (s1-h1 with one NIC a server), agg1, core1. Several pods: pod1-s1-tor1, pod1-agg1.
#pragma once

#include <expected>
#include <optional>

#include "control/generators/draft.hpp"
#include "control/generators/size.hpp"

namespace softspine::control {

enum class DualTorUse : uint8_t { kBackEnd, kFrontEnd };

template <DualTorUse Use>
struct DualTorClos {
  Value where;
  uint32_t pods = 1;
  uint32_t segments = 0;  // of a pod
  uint32_t servers_per_segment = 0;
  uint32_t nics_per_server = Use == DualTorUse::kFrontEnd ? 1 : 8;
  uint32_t aggregations = 0;  // of a pod
  std::optional<uint32_t> links_per_aggregation;
  uint32_t cores = 0;
  std::optional<uint32_t> core_uplinks;  // of an aggregation switch
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<LinkSpec> core_link;
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;
};

using DcnPlus = DualTorClos<DualTorUse::kBackEnd>;
using FrontEnd = DualTorClos<DualTorUse::kFrontEnd>;

DcnPlus published_dcn_plus();

struct DualTorShape {
  uint32_t links_per_aggregation = 1;
  uint32_t core_uplinks = 0;
};
template <DualTorUse Use>
std::expected<DualTorShape, WrongKey> shape_of(const DualTorClos<Use>& spec);

// To be called only if there is a shape.
template <DualTorUse Use>
Size size_of(const DualTorClos<Use>& spec);

// To be called only if size_of() is within its limits.
template <DualTorUse Use>
void draft(const DualTorClos<Use>& spec, Draft& out);

}  // namespace softspine::control
