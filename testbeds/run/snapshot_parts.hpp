// SPDX-License-Identifier: Apache-2.0
// What one rank knows for the snapshot of a fabric, and how rank 0 joins it: each node is copied by the rank that runs
// it, and packets under way are counted where they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "control/telemetry/snapshot.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/run/local_nodes.hpp"

namespace softspine::testbeds {

// The packets of one flow, found anywhere.
struct FlowUnderWay {
  uint64_t packets = 0;
  uint64_t copies = 0;
  std::optional<uint64_t> before_first;  // PSNs from the one that is expected to the first packet

  void add(const FlowUnderWay& other);
};

// What a link lost by going down, counted at the end that it did not reach.
struct CutElsewhere {
  uint32_t sender = 0;  // as the engine numbers nodes
  uint16_t port = 0;
  uint64_t packets = 0;
  uint64_t flow_packets = 0;
};

struct SnapshotPart {
  std::vector<uint32_t> switch_nodes;  // by place in the lists
  std::vector<uint32_t> host_nodes;
  std::vector<uint32_t> edge_nodes;  // as the engine numbers them, each with one port
  std::vector<control::SwitchSnapshot> switches;
  std::vector<control::HostSnapshot> hosts;
  std::vector<control::EdgeSnapshot> edges;
  std::vector<std::vector<LatencyGroup>> latencies;  // by host
  std::map<uint32_t, FlowUnderWay> under_way;        // by flow
  std::map<uint64_t, uint64_t> on_way_to;            // packets on links, by the port that they will arrive at
  std::vector<int8_t> links;                         // by link: up, down, or kNotHere
  std::vector<CutElsewhere> cut;
  uint64_t node_runs = 0;
  dataplane::Histogram lateness_ps;

  static constexpr int8_t kNotHere = -1;
};

// Adds the far ends' counts of a rank's links to it.
void add_cut(const LocalNodes& nodes, SnapshotPart& part);
// All parts as one, in the order of the fabric's nodes.
SnapshotPart join(std::vector<SnapshotPart> parts);

}  // namespace softspine::testbeds
