// SPDX-License-Identifier: Apache-2.0
// How a fabric would be spread over ranks: which links are cut, how far ranks run between two meetings, and how even
// their parts are. From the testbed alone, for `softspine check --ranks` and for ranks before they run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

struct RankPart {
  uint32_t switches = 0;
  uint32_t hosts = 0;
  uint64_t ports = 0;
  dataplane::Rate rate;  // of all its ports: what its work grows with
};

struct RankPlan {
  std::vector<RankPart> parts;  // by rank
  uint64_t links = 0;
  uint64_t cut_links = 0;
  dataplane::Duration window;        // from one meeting to the next
  dataplane::Duration shortest_cut;  // of the links that are cut; max(): none is

  // The largest part's rate over the mean: all wait for it.
  double imbalance() const;
};

RankPlan plan_ranks(const control::Testbed& testbed, uint32_t ranks);

// What the testbed has that does not run over ranks: a sentence each.
std::vector<std::string> not_over_ranks(const control::Testbed& testbed);

}  // namespace softspine::testbeds
