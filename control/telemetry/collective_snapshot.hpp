// SPDX-License-Identifier: Apache-2.0
// How far the ranks of a collective are, and how long each size took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/collective.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

struct CollectiveSizeSnapshot {
  CollectiveShape shape;
  uint32_t done = 0;  // iterations that all ranks have ended
  // Of those, by iteration: from its begin at a rank to its end there, the mean over the ranks, as nccl-tests has it.
  dataplane::Duration mean;
  dataplane::Duration shortest;
  dataplane::Duration longest;
};

// A rank that has not ended, and the operation that it waits for.
struct WaitingRank {
  uint32_t rank = 0;
  std::string host;
  std::string what;  // receives from rank 3 on channel 0
};

// What a rank's time went to. These overlap, but for `waited`: nothing was under way but receives, so it waited for
// others. The rank that waits least is the one that others wait for.
struct RankTimes {
  std::string host;
  dataplane::Duration waited;
  dataplane::Duration sending;
  dataplane::Duration receiving;
  dataplane::Duration reducing;
  dataplane::Duration posting;
};

struct CollectiveSnapshot {
  std::string name;
  std::vector<CollectiveSizeSnapshot> sizes;
  uint32_t ranks_done = 0;
  // When the last of the ranks that have ended did so; never() if none has.
  dataplane::Instant ended = dataplane::Instant::never();
  // Of all ranks.
  uint64_t messages_sent = 0;
  uint64_t messages_received = 0;
  uint64_t scale_up_messages = 0;   // of those sent: beside the fabric, within a server
  uint64_t scale_up_bytes = 0;      // likewise
  uint64_t messages_unclaimed = 0;  // have come, and no receive has asked for them
  uint64_t received_bytes = 0;
  uint64_t clears_sent = 0;  // clear-to-sends
  uint64_t clears_received = 0;
  uint32_t most_open = 0;            // operations of a rank at once
  RankTimes least_wait;              // of the ranks that are here; no name if none is
  RankTimes longest_wait;            // likewise
  std::vector<WaitingRank> waiting;  // of those that are here
};

}  // namespace softspine::control
