// SPDX-License-Identifier: Apache-2.0
// Sums over flows that have something in common: their workload, their source, their destination.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

struct WorkloadTotals {
  std::string name;
  uint64_t flows = 0;
  uint64_t sent_packets = 0;
  uint64_t sent_bytes = 0;
  uint64_t sent_messages = 0;
  uint64_t received_packets = 0;
  uint64_t received_bytes = 0;
  uint64_t received_messages = 0;
  uint64_t foreign = 0;
  uint64_t under_way = 0;
  uint64_t missing = 0;
  uint64_t sequence_gaps = 0;
  uint64_t skipped_packets = 0;
  uint64_t behind = 0;
  uint64_t marked = 0;
  uint64_t stalled_flows = 0;
  uint64_t cut_off_flows = 0;
  // Payload received times how long it has waited on its way: longer than the flow's fastest packet took.
  double waited_byte_ps = 0;
  ReliableCounts reliable;
  LatencySummary latency;              // without quantiles: those of single flows cannot be merged
  std::vector<int64_t> completion_ps;  // of the completed, in the order in which they were added
  std::vector<int64_t> acked_ps;       // of those whose last message is acknowledged, likewise
  // Of flows of lists that have ended: how large, and how many times as long as alone.
  struct Slowdown {
    uint64_t bytes = 0;
    int64_t millionths = 0;
  };
  std::vector<Slowdown> slowdowns;
  bool listed = false;           // has such flows
  double flow_rate_min_bps = 0;  // of the flows that were received at all
  double flow_rate_max_bps = 0;
  dataplane::Instant first_sent = dataplane::Instant::never();
  dataplane::Instant last_arrived;

  void add(const FlowSnapshot& flow);
  // The rate of all flows together: payload received per second, from the first bit sent to the last one received.
  double rate_bps() const;
};

// By nearest rank: the smallest value that a `share` of them (0 … 1) does not exceed; no value if there are none.
std::optional<int64_t> quantile_of(std::vector<int64_t> values, double share);

// One for each value of the field, sorted by it.
std::vector<WorkloadTotals> totals_by(const FabricSnapshot& snapshot, std::string FlowSnapshot::* field);

}  // namespace softspine::control
