// SPDX-License-Identifier: Apache-2.0
// How far the ranks of a trace are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/telemetry/collective_snapshot.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

struct TraceRankSnapshot {
  std::string host;
  dataplane::Instant ended = dataplane::Instant::never();
  dataplane::Duration waited;  // nothing was under way but receives
};

struct TraceSnapshot {
  std::string name;
  uint64_t operations = 0;  // of the trace
  uint64_t operations_done = 0;
  uint64_t ranks_done = 0;
  // When the last of the ranks that have ended did so; never() if none has.
  dataplane::Instant ended = dataplane::Instant::never();
  // Of all ranks.
  uint64_t messages_sent = 0;  // and acknowledged
  uint64_t messages_received = 0;
  uint64_t messages_unclaimed = 0;  // have come, and no receive has taken them
  uint64_t messages_longer = 0;     // than their receives have room for
  uint64_t received_bytes = 0;
  uint64_t opened_late = 0;  // operations that could have started when they were not open yet
  uint32_t most_open = 0;    // operations of a rank at once
  uint64_t most_kept = 0;    // messages of a rank that came before their receives, at once
  std::vector<TraceRankSnapshot> ranks;
  std::vector<WaitingRank> waiting;  // of those that are here
};

}  // namespace softspine::control
