// SPDX-License-Identifier: Apache-2.0
// The fabric for who draws it while it runs: once its map, then again and again what its ports did, in few bytes. Ports
// of all nodes are numbered through, in the order of the map.
//
//   map     {"testbed": …, "nodes": [["tor1", tier, [[port's name, number of its peer, rate_bps], …]], …]}
//   loads   {"at_ps": …, "ports": [[port, tx_bytes, paused_ps, queue, queue_bytes, drops], …], "down": [port, …],
//            "drops": {"queue_full": 3}}
//
// Counters are since the start: tx_bytes as on the wire, with preamble, FCS and gap; paused_ps of the priority that was
// paused longest; drops of frames that came in there, but for those that were meant to end there (pauses). queue: the
// fullest one now. Ports that did nothing have no row.
#pragma once

#include "control/model/fabric.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

Json map_json(const std::string& testbed, const Fabric& fabric);
Json loads_json(const Fabric& fabric, const FabricSnapshot& snapshot);

}  // namespace softspine::control
