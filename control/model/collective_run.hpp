// SPDX-License-Identifier: Apache-2.0
// Collectives of a testbed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/collective.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Ranks that do one collective after the other: of each size, `iterations` times. Whose messages go where stands in a
// workload of the testbed, whose flows are the connections' queue pairs.
struct CollectiveRun {
  std::string name;
  std::vector<uint32_t> ranks;          // by rank: the host, a node of the fabric
  std::vector<CollectiveShape> shapes;  // one a size, in the file's order
  uint32_t iterations = 1;
  dataplane::Instant start;
  dataplane::Duration compute;    // of each rank before each collective
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
  Place place;
};

}  // namespace softspine::control
