// SPDX-License-Identifier: Apache-2.0
// The shapes a fabric can be generated in. Each has its own parameters; `draft` makes nodes and links of them.
//
//   leaf-spine  tors × spines, full mesh; the hosts of tor1 are h1 … hN, of tor2 hN+1 …
//   fat-tree    k pods of k/2 edge (tor) and k/2 aggregation switches, (k/2)² cores: core i joins
//               aggregation i / (k/2) of every pod (Al-Fares et al., SIGCOMM 2008)
//   hpn         Alibaba HPN (SIGCOMM 2024): segments of servers with one NIC per rail; each NIC has a port on
//               both ToRs of its rail, same address. Two planes: the first ToR of a rail, and port 0 of every
//               NIC, belong to plane 1, the second to plane 2; a ToR has one uplink to every aggregation switch
//               of its plane. One plane: to every aggregation switch (their baseline with dual ToR).
//               Full size: 15 segments, 128 servers, 8 rails, 60 aggregations a plane, 128 cores, 8 core uplinks.
//   ai-zone     Meta's AI zone (SIGCOMM 2024): racks of servers under one RTSW, every RTSW to every CTSW of its
//               zone, optionally zones joined by ATSWs. Full size: 192 racks × 2 servers × 8 NICs, 16 CTSWs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "control/document/document.hpp"
#include "control/format/quantity.hpp"
#include "control/generators/draft.hpp"

namespace softspine::control {

struct LinkSpec {
  Value where;
  dataplane::Rate rate;
  Length length = Length::metres(5);
  std::optional<uint32_t> mtu;
  FlowControl flow_control = FlowControl::kPfc;
  std::optional<dataplane::Duration> pfc_response;
};

struct LeafSpine {
  Value where;
  uint32_t tors = 0;
  uint32_t spines = 0;
  uint32_t hosts_per_tor = 0;
  uint32_t links_per_spine = 1;
  LinkSpec host_link;
  LinkSpec fabric_link;
};

struct FatTree {
  Value where;
  uint32_t k = 0;
  std::optional<uint32_t> hosts_per_tor;  // k / 2
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<LinkSpec> core_link;  // as fabric_link
};

struct Hpn {
  Value where;
  uint32_t segments = 0;
  uint32_t servers_per_segment = 0;
  uint32_t rails = 8;
  uint32_t planes = 2;
  uint32_t aggregations_per_plane = 0;
  uint32_t cores = 0;
  uint32_t core_uplinks = 1;  // of an aggregation switch
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<LinkSpec> core_link;
};

struct AiZone {
  Value where;
  uint32_t zones = 1;
  uint32_t racks = 0;  // of a zone
  uint32_t servers_per_rack = 2;
  uint32_t nics_per_server = 8;
  uint32_t ctsws = 0;  // of a zone
  uint32_t links_per_ctsw = 1;
  uint32_t atsws = 0;
  LinkSpec host_link;
  LinkSpec fabric_link;
  std::optional<LinkSpec> zone_link;
};

using FabricSpec = std::variant<LeafSpine, FatTree, Hpn, AiZone>;

// A fabric larger than this is taken for a typing error.
inline constexpr uint64_t kMaxNodes = 500'000;
inline constexpr uint64_t kMaxLinks = 2'000'000;

struct Size {
  double nodes = 0;  // not integers, since products of what people write can exceed any of them
  double links = 0;
  double ports = 0;  // of the largest switch
};

Size size_of(const LeafSpine& spec);
Size size_of(const FatTree& spec);
Size size_of(const Hpn& spec);
Size size_of(const AiZone& spec);

// To be called only if size_of() is within its limits.
void draft(const LeafSpine& spec, Draft& out);
void draft(const FatTree& spec, Draft& out);
void draft(const Hpn& spec, Draft& out);
void draft(const AiZone& spec, Draft& out);

}  // namespace softspine::control
