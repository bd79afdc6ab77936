// SPDX-License-Identifier: Apache-2.0
// What each port is up against: how long it was paused, what it lost, what its queues and priority groups hold beside
// their limits. `show pressure` gives it in few bytes, `softspine top` reads it again and again.
//
//   pressure  {"at_ps": …, "ports": [[port, tx_bytes, tx_packets, rx_packets, lost, paused_ps, lanes], …],
//              "down": [port, …]}
//   lanes     [[number, paused_ps, flags, packets, refused, marked, queue_bytes, queue_fill, queue_limit,
//               group_fill, group_limit, group_refused], …]
//
// Ports have the numbers of `map` (fabric_map.hpp). A lane is the priority, the queue and the priority group of one
// number of a port. Ports and lanes without anything have no row. Counters are since the start; sizes are bytes, now.
//   tx_bytes        on the wire, of the port's transmitter
//   lost            frames that came in there and were lost; at a host's first port all that the host lost
//   paused_ps       of a port: by PAUSE, which stops all of it; of a lane: by PFC
//   flags           1: it is paused now; 2: it has raised XOFF
//   packets, refused, marked  of the queue: sent, dropped at its tail, and marked CE
//   queue_fill, group_fill    of memory that has a limit (telemetry/port_fill.hpp); the limit is 0 without one
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/port_fill.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

struct LanePressure {
  uint64_t paused_ps = 0;
  bool paused = false;
  bool stopping = false;
  uint64_t packets = 0;
  uint64_t refused = 0;
  uint64_t marked = 0;
  uint64_t queue_bytes = 0;
  Fill queue;
  Fill group;
  uint64_t group_refused = 0;
  friend bool operator==(const LanePressure&, const LanePressure&) = default;
};

struct PortPressure {
  bool up = true;
  uint64_t tx_bytes = 0;
  uint64_t tx_packets = 0;
  uint64_t rx_packets = 0;
  uint64_t lost = 0;
  uint64_t paused_ps = 0;
  std::array<LanePressure, dataplane::kPriorities> lanes{};
  friend bool operator==(const PortPressure&, const PortPressure&) = default;
};

// All ports of the map.
struct FabricPressure {
  uint64_t at_ps = 0;
  std::vector<PortPressure> ports;
};

FabricPressure pressure_of(const Fabric& fabric, const FabricSnapshot& snapshot, const PortFills& fills);
Json pressure_json(const FabricPressure& pressure);

// A port as `map` names it.
struct MappedPort {
  std::string name;  // tor1:Ethernet0
  uint32_t peer = 0;
  uint64_t rate_bps = 0;
};
struct PortMap {
  std::string testbed;
  std::vector<MappedPort> ports;
};

// What a fabric has answered. Error: it is no such answer.
std::expected<PortMap, std::string> port_map_from(const Json& map);
std::expected<FabricPressure, std::string> pressure_from(const Json& answer, const PortMap& map);

}  // namespace softspine::control
