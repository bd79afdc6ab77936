// SPDX-License-Identifier: Apache-2.0
// A profile: the tables that a switch works by, resolved (inheritance applied, defaults filled in).
// Names are SAI's and SONiC's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/model/port_channel.hpp"
#include "control/model/port_maps.hpp"
#include "control/model/qos.hpp"
#include "dataplane/forwarding/neighbour_ages.hpp"
#include "dataplane/hashing/flowlet_config.hpp"
#include "dataplane/hashing/hash_config.hpp"

namespace softspine::control {

using HashAlgorithm = dataplane::HashAlgorithm;
using HashField = dataplane::HashField;
using HashModel = dataplane::HashModel;
using Rtag7Output = dataplane::Rtag7Output;
using HashConfig = dataplane::HashConfig;
using UdfBase = dataplane::UdfBase;

// How a group's member is chosen: dataplane/hashing/ecmp_group.hpp. Pinned: by the destination's slice, which is its
// place among the hosts of its subnet, that is, its ToR's downlink.
enum class EcmpGroupMode : uint8_t { kHash, kPinned, kInPort, kFlowlet, kSpray };
// The effect of a member's death: all buckets are dealt anew, or only its own.
enum class EcmpGroupKind : uint8_t { kModulo, kResilient };

struct EcmpGroupConfig {
  EcmpGroupMode mode = EcmpGroupMode::kHash;
  EcmpGroupKind kind = EcmpGroupKind::kModulo;
  uint32_t buckets = 128;  // resilient
  // By the neighbour's name; a neighbour that is not named has weight 1. The list has at most 64.
  std::vector<std::pair<std::string, uint32_t>> weights;
  dataplane::FlowletConfig flowlets;
};

inline uint32_t weight_of(const EcmpGroupConfig& groups, std::string_view neighbour) {
  for (const auto& [name, weight] : groups.weights) {
    if (name == neighbour) return weight;
  }
  return 1;
}

// The maps of the base PortMaps are those of ports that are not in `port_maps`.
struct Profile : PortMaps {
  std::string name = "default";
  Place place;         // in the testbed's file; empty for built-in ones
  Place groups_place;  // of its groups, or its own
  std::array<uint64_t, 8> queue_limit_bytes{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20};
  uint32_t mtu = 9100;             // of the links of switches with this profile, unless a link has its own
  bool in_band_telemetry = false;  // dataplane/packet/telemetry_field.hpp
  HashConfig hash;
  // The hash that chooses a LAG's member. Null: `hash` chooses it, as the profile gives LAGs no hash or the same. SONiC
  // does likewise: its switch.json gives lag_hash_seed and lag_hash_offset the values of ECMP's, and SAI's default
  // algorithm and seed (CRC, 0) are the same for both. How it is resolved: load/lag_hash.hpp.
  std::shared_ptr<const HashConfig> lag_hash;  // allocated apart: it is large, and few profiles have it
  EcmpGroupConfig groups;
  std::vector<std::pair<std::string, PortMaps>> port_maps;  // sorted by name
  uint64_t unmapped_dscps = 0;  // bit n: the map in force does not list DSCP n, which makes it traffic class 0
  std::shared_ptr<const std::vector<PortChannel>> port_channels;  // null: none
  std::optional<dataplane::NeighbourAges> ages;                   // none: what is known of hosts does not age
  std::shared_ptr<const QosConfig> qos;  // null: strict queues with a limit each, nothing shared or paused

  const HashConfig& hash_of_lags() const { return lag_hash ? *lag_hash : hash; }
  const PortMaps& maps_at(std::string_view port) const {
    const auto found = std::ranges::lower_bound(port_maps, port, {},
                                                [](const auto& of_port) -> std::string_view { return of_port.first; });
    return found != port_maps.end() && found->first == port ? found->second : *this;
  }
};

}  // namespace softspine::control
