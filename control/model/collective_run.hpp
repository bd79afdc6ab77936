// SPDX-License-Identifier: Apache-2.0
// Collectives of a testbed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/collective.hpp"
#include "control/model/rank_traffic.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Ranks that do one collective after the other: of each size, `iterations` times.
struct CollectiveRun {
  std::string name;
  RankTraffic traffic;
  std::vector<CollectiveShape> shapes;  // one a size, in the file's order
  uint32_t iterations = 1;
  dataplane::Instant start;
  dataplane::Duration compute;  // of each rank before each collective
  Place place;
};

}  // namespace softspine::control
