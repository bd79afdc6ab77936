// SPDX-License-Identifier: Apache-2.0
// Meta's AI zone (SIGCOMM 2024): racks of servers under one RTSW, every RTSW to every CTSW of its zone; optionally
// several zones, every CTSW to every ATSW.
//
// CTSWs and their links are counted, or follow from `uplinks`, the bandwidth below an RTSW to that above it: 1:1, 1:2
// (twice the uplinks, against collisions of pinned flows), 1:1.125. ATSWs are counted, or follow from `zone_uplinks`:
// 7:1 is what the paper calls 1:7, rounded up to whole links. Counts that are given go before ratios.
//
// Published: a zone of 192 racks, 2 servers with 8 NICs of 400G each, 16 uplinks of 400G: 3,072 GPUs. Eight zones
// under ATSWs at 7:1: 24,576 GPUs. How many CTSWs and ATSWs there are is not published: one for each uplink here.
// Names: z1-rtsw1, z1-h1-nic1, z1-ctsw1, atsw1.
#pragma once

#include <expected>
#include <optional>

#include "control/generators/draft.hpp"
#include "control/generators/size.hpp"

namespace softspine::control {

struct AiZone {
  Value where;
  uint32_t zones = 1;
  uint32_t racks = 0;  // of a zone
  uint32_t servers_per_rack = 2;
  uint32_t nics_per_server = 8;
  std::optional<uint32_t> ctsws;  // of a zone
  std::optional<uint32_t> links_per_ctsw;
  std::optional<Ratio> uplinks;
  std::optional<uint32_t> atsws;
  std::optional<Ratio> zone_uplinks;
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<LinkSpec> zone_link;
  std::optional<std::string> servers_of;
  std::optional<VlanRow> host_vlan;

  static AiZone published_zone();
  static AiZone published_zones();
};

// The counts that follow.
struct AiZoneShape {
  uint32_t ctsws = 0;
  uint32_t links_per_ctsw = 1;
  uint32_t atsws = 0;
};
std::expected<AiZoneShape, WrongKey> shape_of(const AiZone& spec);

// To be called only if there is a shape.
Size size_of(const AiZone& spec);

// To be called only if size_of() is within its limits.
void draft(const AiZone& spec, Draft& out);

}  // namespace softspine::control
