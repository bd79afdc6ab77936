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
//
//   thresholds of a switch   [{"port", "of": "queue 3", "bytes", "marks_from_bytes", "marks_all_bytes",
//                              "xoff_bytes"}, …]: what queues and priority groups hold, and where they mark and pause
// A recording that is played gives the same rows (analysis/playback).
#pragma once

#include <string>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/telemetry/json_fwd.hpp"
#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// A port's row of `loads`, apart from its number.
struct PortLoad {
  uint64_t tx_bytes = 0;
  int64_t paused_ps = 0;
  size_t queue = 0;
  uint64_t queue_bytes = 0;
  uint64_t drops = 0;
  bool up = true;

  bool any() const { return tx_bytes != 0 || paused_ps != 0 || queue_bytes != 0 || drops != 0; }
};
// `loads`: of all ports, in the order of the map.
Json load_rows(const std::vector<PortLoad>& loads);

struct PortQueue {
  std::string port;
  uint32_t number;  // of the queue, or of the priority group
  uint64_t bytes;   // that it holds
};
Json queue_threshold(const PortQueue& queue, uint64_t marks_from_bytes, uint64_t marks_all_bytes);
Json group_threshold(const PortQueue& group, uint64_t xoff_bytes);

Json map_json(const std::string& testbed, const Fabric& fabric);
Json loads_json(const Fabric& fabric, const FabricSnapshot& snapshot);

}  // namespace softspine::control
