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

// For how long a rank had nothing under way but receives: it waited for others. The rank that waits least is the one
// that others wait for.
struct RankWait {
  std::string host;
  dataplane::Duration waited;
};

struct CollectiveSnapshot {
  std::string name;
  std::vector<CollectiveSizeSnapshot> sizes;
  uint32_t ranks_done = 0;
  uint64_t clears_sent = 0;          // clear-to-sends, of all ranks
  uint64_t clears_received = 0;      // likewise
  RankWait least_wait;               // of the ranks that are here; no name if none is
  RankWait longest_wait;             // likewise
  std::vector<WaitingRank> waiting;  // of those that are here
};

}  // namespace softspine::control
