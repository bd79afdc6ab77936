// SPDX-License-Identifier: Apache-2.0
// What ranks of a testbed send by: NCCL's connections, as a workload of the testbed and beside the fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Whose messages go where stands in a workload of the testbed, whose flows are the connections' queue pairs.
struct RankTraffic {
  std::vector<uint32_t> hosts;    // by rank: a node of the fabric
  dataplane::Rate reduce_rate;    // of a rank's own work on bytes; zero: no time
  dataplane::Duration post_cost;  // of each message that a rank posts, one after the other
  uint32_t workload = 0;          // of the testbed
  // Of clear-to-sends: its pairs are those of `workload`, the other way round. None: open admission.
  std::optional<uint32_t> clears;
  std::vector<uint32_t> from_rank;  // by pair of that workload
  std::vector<uint32_t> to_rank;    // likewise
  std::vector<uint32_t> channel;    // likewise
  // Between ranks of one server, beside the fabric: in no workload.
  struct ScaleUpPair {
    uint32_t from_rank = 0;
    uint32_t to_rank = 0;
    uint32_t channel = 0;
  };
  std::vector<ScaleUpPair> scale_up;
};

}  // namespace softspine::control
